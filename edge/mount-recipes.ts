/** Commands that open a mount on Linux, as everything that speaks of them gives them: pages, banner, README, demo. */

/** Uploads at once instead of after ten seconds; current kernels need the buffer to list folders. */
const OPTIONS = 'delay_upload 0\\nbuf_size 64\\n'

/**
 * @param address of the mount, with a slash at its end
 * @param folder where it is mounted
 * @returns commands, one after another; they ask for user and password
 */
export function davfsCommands(address: string, folder = '/mnt'): readonly [settings: string, mount: string] {
  return [
    `printf '${OPTIONS}' > ~/davfs.conf`,
    `sudo mount -t davfs -o uid=$USER,conf=$HOME/davfs.conf ${address} ${folder}`,
  ]
}

/** What rclone is told: with this vendor it carries times and checksums. */
export const RCLONE_VENDOR = 'vendor=owncloud'

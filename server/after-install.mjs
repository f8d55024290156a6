// Says what npm's warnings about engines mean, once it has installed the packages, and prepares the sources for servers
// that may write nothing here. It runs on any Node, and `node` may be the one that came with them here: npm tells which one
// it runs on.
const [, version, major, minor] = /node\/v((\d+)\.(\d+)\S*)/.exec(process.env.npm_config_user_agent ?? '') ?? []
const isOld = Number(major) < 24 || (Number(major) === 24 && Number(minor) < 15)

if (isOld && process.platform === 'darwin')
  console.log(`Scriptorium needs Node 24.15 or newer, and this is ${version}: the README, "Start", says how to get it.`)
else if (isOld)
  console.log(`The warnings about engines are fine: Scriptorium runs on the Node that came along, not on ${version}.`)
else {
  // Without it the first start does the same, or each does if it may not write here.
  // Node warns that its function for that is new.
  process.removeAllListeners('warning')
  await import('../pipeline/sources.mjs').then(sources => sources.stripAll()).catch(() => undefined)
}

// What npm's warnings about engines mean, said once when it has installed the packages. It runs on any Node, and `node` may be
// the one that came with them here: npm tells which one it runs on.
const [, version, major, minor] = /node\/v((\d+)\.(\d+)\S*)/.exec(process.env.npm_config_user_agent ?? '') ?? []
const isOld = Number(major) < 24 || (Number(major) === 24 && Number(minor) < 15)

if (isOld && process.platform === 'darwin')
  console.log(`Scriptorium needs Node 24.15 or newer, and this is ${version}: the README, "Start", says how to get it.`)
else if (isOld)
  console.log(`The warnings about engines are fine: Scriptorium runs on the Node that came along, not on ${version}.`)

// One ClickHouse for both sides of the benchmark, or one shard of the tests' cluster: the embedded engine with HTTP and native TCP listeners, without a password.
// Blocks; SIGTERM ends it.
//   node engine.mjs FOLDER HTTP_PORT TCP_PORT [SETTINGS_FILE]
import { createRequire } from 'node:module'
import path from 'node:path'
import { DataType, load, open } from 'ffi-rs'

const require = createRequire(createRequire(import.meta.url).resolve('chdb/package.json'))
const native = `@chdb/lib-${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`
const [folder, httpPort, tcpPort, settings] = process.argv.slice(2)
const argv = [
  'clickhouse',
  ...(settings === undefined ? [] : [`--config-file=${settings}`]),
  `--path=${folder}`,
  `--http_port=${httpPort}`,
  `--tcp_port=${tcpPort}`,
  '--listen_host=127.0.0.1',
  '--query',
  'SYSTEM START LISTEN HTTP; SYSTEM START LISTEN TCP; SELECT sleepEachRow(0.5) FROM system.numbers FORMAT Null SETTINGS max_block_size=1, max_threads=1',
]
open({ library: 'chdb', path: path.join(path.dirname(require.resolve(native)), 'libchdb.so') })
load({
  library: 'chdb',
  funcName: 'chdb_query_cmdline',
  retType: DataType.External,
  paramsType: [DataType.I32, DataType.StringArray],
  paramsValue: [argv.length, argv],
})
process.exit(1)

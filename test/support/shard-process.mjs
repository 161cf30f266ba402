// One shard of the test cluster: the embedded engine with its HTTP and its native port open, since shards talk to each other over the latter.
import { DataType, load, open } from 'ffi-rs'

const { library, settings, folder, http, tcp } = JSON.parse(process.argv[2])
process.stdin.resume().once('end', () => process.exit())
open({ library: 'chdb', path: library })
const argv = [
  'clickhouse',
  `--config-file=${settings}`,
  `--path=${folder}`,
  `--http_port=${http}`,
  `--tcp_port=${tcp}`,
  '--listen_host=127.0.0.1',
  '--query',
  'SYSTEM START LISTEN HTTP; SYSTEM START LISTEN TCP; SELECT sleepEachRow(0.5) FROM system.numbers FORMAT Null SETTINGS max_block_size=1, max_threads=1',
]
load({
  library: 'chdb',
  funcName: 'chdb_query_cmdline',
  retType: DataType.External,
  paramsType: [DataType.I32, DataType.StringArray],
  paramsValue: [argv.length, argv],
})

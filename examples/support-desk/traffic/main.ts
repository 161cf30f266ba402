// Plays sixty customers against a desk that is running: `npm run traffic`. DESK_URL says where, SESSIONS how many of the 480, FROM how many to pass over.
import { drive } from './drive.ts'
import { customerSessions } from './sessions.ts'

const url = process.env['DESK_URL'] ?? 'http://127.0.0.1:4000'
const numberOf = (name: string) => (process.env[name] === undefined ? undefined : Number(process.env[name]))
const report = await drive(customerSessions(numberOf('SESSIONS'), numberOf('FROM')), { url })
process.stdout.write(
  `${report.sessions} sessions, ${report.turns} messages, ${report.helpful} rated helpful, ${report.failed} without an answer\n`,
)
process.exitCode = report.failed === 0 ? 0 : 1

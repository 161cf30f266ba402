// `node --import @homeground/sdk/register app.js`: records the model calls of code that cannot be edited, ESM or CommonJS, by patching the global fetch before
// any client is built. Tools and agents stay unseen: they need hg.tool and hg.agent. HOMEGROUND_PROJECT names the project.
import { registerHomeground } from './homeground.ts'

const project = process.env['HOMEGROUND_PROJECT'] ?? process.env['OTEL_SERVICE_NAME'] ?? process.env['npm_package_name'] ?? 'default'
registerHomeground({ project })

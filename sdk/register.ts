// `node --import @homeground/sdk/register app.js`: records the model calls of code that cannot be edited, ESM or CommonJS, by patching the global fetch before
// any client is built. Tools and agents stay unseen: they need hg.tool and hg.agent. HOMEGROUND_PROJECT names the project.
import { registerHomeground } from './homeground.ts'

const { HOMEGROUND_PROJECT, OTEL_SERVICE_NAME, npm_package_name } = process.env
// A variable that is set to nothing names nothing.
const project = [HOMEGROUND_PROJECT, OTEL_SERVICE_NAME, npm_package_name].find((name) => name !== undefined && name.trim() !== '')
registerHomeground({ project: project ?? 'default' })

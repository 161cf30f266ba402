// The version of this package, as package.json says it.
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
/** Works from cli/ and from dist/cli/: the package knows itself by name. */
export const version = require('homeground/package.json').version;
//# sourceMappingURL=version.js.map
/** The version of this package, as in its package.json (a test compares them). */
export const version = '0.1.0'

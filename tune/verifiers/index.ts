// tune/verifiers: an environment as a package for verifiers, with what trains elsewhere beside it.
export { type WrittenPackage, writeVerifiersPackage } from './write-package.ts'

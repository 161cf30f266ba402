// @homeground/sdk/testing: a fake model server and a memory exporter, for our tests and for users' own.
export {}

/** Works from cli/ and from dist/cli/: the package knows itself by name. */
export declare const version: string;

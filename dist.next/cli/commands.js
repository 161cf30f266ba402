export const commands = [];
//# sourceMappingURL=commands.js.map
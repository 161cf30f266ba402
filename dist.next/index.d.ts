export type * from './replay/environment/types.ts';
export type * from './replay/rubric/types.ts';
export type * from './replay/run/types.ts';
export type * from './store/types.ts';

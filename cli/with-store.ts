// A command's use of the store: opened where the options and the environment say, closed whatever happens.
import { openStore, type Store } from '../store/index.ts'
import { environmentWith } from './store-options.ts'

export async function withStore<Result>(options: { folder?: string }, use: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openStore({ environment: environmentWith({ HOMEGROUND_FOLDER: options.folder }) })
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

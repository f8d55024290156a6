/** What all tests of a process share: begun with the first one that needs it, ended with the process. */

interface Service {
  start(): Promise<void>
  remove(): Promise<void>
}

/** @param make a service that is not yet running */
export function shared<S extends Service>(make: () => Promise<S>): () => Promise<S> {
  let running: Promise<S> | undefined
  async function begin(): Promise<S> {
    const service = await make()
    await service.start()
    after(() => service.remove())
    return service
  }
  return () => (running ??= begin())
}

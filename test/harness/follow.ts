import { createInformer, type InformerEvent } from '../../src/runtime/cache/informer.ts';
import { createLogger } from '../../src/runtime/process/logger.ts';
import type { KubeObject, Resource } from '../../src/runtime/client/resource.ts';
import type { ControlPlane } from './controlPlane.ts';
import { connect } from './runtimeScene.ts';

/**
 * Watches all objects of a resource. Unlike polling, it sees every version of every object. Resolves after `see`
 * received the existing objects; later calls are changes.
 *
 * @returns a function that ends the watch
 */
export async function follow<T extends KubeObject>(
  plane: ControlPlane,
  resource: Resource<T>,
  see: (event: InformerEvent<T>) => void,
): Promise<() => Promise<void>> {
  const { transport } = connect(plane);
  const informer = createInformer({ transport, resource, logger: createLogger('silent') });
  informer.subscribe(see);
  const end = new AbortController();
  const running = informer.run(end.signal);
  await informer.whenSynced();
  return async () => {
    end.abort();
    await running;
    await transport.close();
  };
}

import { connectivityCheckResource } from '../../api/connectivitycheck/schema.ts';
import { defineController } from '../contract/module.ts';
import { connectivityCheckRights } from './rbac.ts';

/** The controller of ConnectivityChecks. */
export const connectivityCheck = defineController({
  name: 'connectivitycheck',
  kinds: [connectivityCheckResource],
  flags: {},
  rights: connectivityCheckRights,
  registerMetrics: () => undefined,
  create: () => ({ parts: [], enqueueAll: () => undefined }),
  cleanUp: () => Promise.resolve(),
});

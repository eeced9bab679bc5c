import { trafficStackResource } from '../../api/trafficstack/schema.ts';
import { defineController } from '../contract/module.ts';
import { cleanUp } from './cleanup.ts';
import { builtInsOf } from './content/builtIns.ts';
import { createTrafficStackMetrics } from './metrics.ts';
import { trafficStackRights } from './rbac.ts';
import { runStacks } from './run.ts';

/** The controller of TrafficStacks: brings components up in the order of their dependencies. */
export const trafficStack = defineController({
  name: 'trafficstack',
  kinds: [trafficStackResource],
  flags: {},
  rights: trafficStackRights,
  registerMetrics: createTrafficStackMetrics,
  builtIns: ({ namespace }) => builtInsOf(namespace),
  create: (context, { namespace, stacks, defaultStack, stackNamespace }) =>
    runStacks(context, { namespace, namespaces: stackNamespace, hasUsers: stacks, hasDefault: defaultStack }),
  cleanUp,
});

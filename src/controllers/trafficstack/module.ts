import { trafficStackResource } from '../../api/trafficstack/schema.ts';
import { defineController, type RunningController } from '../contract/module.ts';
import { cleanUp } from './cleanup.ts';
import { builtInsOf } from './content/builtIns.ts';
import { createTrafficStackMetrics } from './metrics.ts';
import { trafficStackRights } from './rbac.ts';
import { runStacks } from './run.ts';

const NOT_RUNNING: RunningController = { parts: [], enqueueAll: () => undefined };

/** The controller of TrafficStacks: brings components up in the order of their dependencies. */
export const trafficStack = defineController({
  name: 'trafficstack',
  kinds: [trafficStackResource],
  flags: {},
  rights: trafficStackRights,
  registerMetrics: createTrafficStackMetrics,
  builtIns: ({ namespace }) => builtInsOf(namespace),
  create(context, { namespace, defaultStack, stackNamespace }) {
    const options = { namespace, namespaces: stackNamespace, hasDefault: defaultStack };
    return context.stacks === undefined ? NOT_RUNNING : runStacks(context, context.stacks, options);
  },
  cleanUp,
});

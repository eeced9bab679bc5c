import { optionalCachePart, controllerPart } from '../../runtime/manager/manager.ts';
import { whenAborted } from '../../runtime/async/deadline.ts';
import type { Part } from '../../runtime/process/part.ts';
import { defineController } from '../contract/module.ts';
import { builtInsOf } from './components/builtIns.ts';
import { createMeasurementController } from './controller.ts';
import { MEASUREMENT_FLAGS, measurementFlagProblem, measurementOptions } from './flags.ts';
import { createMeasurementMetrics } from './metrics.ts';
import { controllerRules, removalRules } from './rbac.ts';
import { Applier } from '../../runtime/apply/apply.ts';
import type { Client } from '../../runtime/client/client.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { Problem } from '../../runtime/process/problem.ts';
import { measurementSet } from './components/components.ts';
import { FIELD_MANAGER } from './names.ts';
import { removeSet } from '../contract/deployedSet.ts';
import { defaultMeasurementOptions } from './options.ts';

/** The controller that deploys node-exporter and, unless --prometheus-url is set, a small Prometheus. */
export const measurement = defineController({
  name: 'measurement',
  kinds: [],
  flags: MEASUREMENT_FLAGS,
  flagProblem: measurementFlagProblem,
  rights: (namespace) => ({ controller: controllerRules(namespace), cleanup: removalRules(namespace) }),
  registerMetrics: createMeasurementMetrics,
  builtIns: (flags) => builtInsOf(measurementOptions(flags)),
  create({ client, transport, nodes, stacks, events, unmeasured, measuring, podName, metrics, clock, logger }, flags) {
    const { namespace } = flags;
    const options = measurementOptions(flags);
    const running = createMeasurementController({
      client,
      transport,
      stacks,
      options,
      ...(podName === undefined ? {} : { pod: { namespace, name: podName } }),
      recorder: events,
      nodes: () => nodes.lister.list(),
      notMeasurable: () => unmeasured.notMeasurable,
      logger,
      clock,
      metrics: {
        controller: metrics.controller,
        reflector: metrics.reflector,
        measurement: createMeasurementMetrics(metrics.registry, options),
      },
    });
    measuring.tellBy(running);
    const watches: Part = {
      name: 'watches of exporters that TrafficStacks use',
      stage: 'work',
      async run(stop) {
        await whenAborted(stop);
        await running.watches.close();
      },
    };
    return {
      parts: [...running.informers.map(optionalCachePart), watches, controllerPart(running.controller)],
      enqueueAll: () => running.enqueueAll(),
    };
  },
  async cleanUp({ client, namespace, logger }) {
    await removeMeasurement(client, { namespace, logger });
  },
});

/**
 * Removes all objects of this controller, the namespace of node-exporter last, before the operator itself is removed.
 * Stop the operator first: a running operator would create the objects again. Does not wait for the deletions to end.
 *
 * @param namespace the namespace of the operator
 * @returns the objects that were kept, and why
 * @throws ApiError, TransportError
 */
export async function removeMeasurement(
  client: Client,
  { namespace, logger }: { namespace: string; logger: Logger },
): Promise<readonly Problem[]> {
  const options = defaultMeasurementOptions(namespace);
  options.prometheus.enabled = false;
  // The claim is found by its name, so its size does not matter.
  options.prometheus.volume = { kind: 'claim', size: '1Gi' };
  const applier = new Applier({ client, fieldManager: FIELD_MANAGER, logger });
  return removeSet(measurementSet(options), { client, applier });
}

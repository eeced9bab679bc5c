import { Gauge, type Registry } from 'prom-client';
import { defineController } from '../../../src/controllers/contract/module.ts';
import { rule } from '../../../src/controllers/contract/rights.ts';
import { type FlagTable, withDefault } from '../../../src/options/flagTable.ts';
import { port } from '../../../src/options/values.ts';
import { createInformer } from '../../../src/runtime/cache/informer.ts';
import { createOverlay } from '../../../src/runtime/cache/overlay.ts';
import { keyOf, refOfKey } from '../../../src/runtime/client/resource.ts';
import { setCondition, conditionEvents, STANDARD_TYPES } from '../../../src/runtime/controller/conditions.ts';
import { Controller } from '../../../src/runtime/controller/controller.ts';
import { cachePart, controllerPart } from '../../../src/runtime/manager/manager.ts';
import { report, StatusWriter } from '../../../src/runtime/status/statusWriter.ts';
import { NODE_COUNTS, nodeCountResource, type NodeCount } from './api.ts';

const NODE_COUNT_FLAGS = {
  nodeCountMost: withDefault(port, '3', 'More nodes than these are too many.'),
} as const satisfies FlagTable;

function createNodesGauge(registry: Registry): Gauge<'nodecount'> {
  const name = 'traffic_operator_nodecount_nodes';
  return new Gauge({ name, help: 'Nodes that a NodeCount counts.', labelNames: ['nodecount'], registers: [registry] });
}

/** The decision: pure. */
function statusOf(count: NodeCount, nodes: number, most: number, now: string): NonNullable<NodeCount['status']> {
  const state =
    nodes > most
      ? { status: 'False' as const, reason: 'TooMany', message: `${nodes} nodes, and ${most} are allowed` }
      : { status: 'True' as const, reason: 'Counted', message: `${nodes} nodes` };
  return { nodes, conditions: setCondition(count.status?.conditions ?? [], { type: 'Ready', ...state }, now) };
}

/** A second kind with a controller of its own, to show what one takes: this folder, and a line in the list of all. */
export const nodeCount = defineController({
  name: 'nodecount',
  kinds: [nodeCountResource],
  flags: NODE_COUNT_FLAGS,
  flagProblem: ({ nodeCountMost }) =>
    nodeCountMost === 1 ? { key: 'nodeCountMost', message: 'must be 2 at least: one node is no cluster' } : undefined,
  rights: () => ({
    controller: {
      cluster: [
        rule(NODE_COUNTS.group, ['nodecounts'], ['list', 'watch']),
        { ...rule(NODE_COUNTS.group, ['nodecounts/status'], ['patch']), why: 'The count is in the status.' },
      ],
      own: [],
    },
    cleanup: {
      cluster: [
        rule(NODE_COUNTS.group, ['nodecounts'], ['list']),
        rule(NODE_COUNTS.group, ['nodecounts/status'], ['patch']),
      ],
      own: [],
    },
  }),
  registerMetrics: createNodesGauge,
  create({ client, transport, events, nodes, isLeader, metrics, clock, logger }, { nodeCountMost }) {
    const gauge = createNodesGauge(metrics.registry);
    const informer = createInformer({ transport, logger, metrics: metrics.reflector, resource: NODE_COUNTS });
    const counts = createOverlay(informer);
    const statuses = new StatusWriter({ client, resource: NODE_COUNTS, fieldManager: 'nodecount', objects: counts });
    const controller = new Controller({
      name: 'nodecount',
      logger,
      metrics: metrics.controller,
      clock,
      async reconcile(key) {
        const count = counts.get(key);
        if (count === undefined) {
          gauge.remove(key);
          return undefined;
        }
        const counted = nodes.lister.list().filter(({ name }) => name.startsWith(count.spec.namePrefix)).length;
        gauge.set({ nodecount: key }, counted);
        if (!isLeader()) return undefined;
        const status = statusOf(count, counted, nodeCountMost, new Date(clock.now()).toISOString());
        const planned = conditionEvents(count.status?.conditions, status.conditions, { types: STANDARD_TYPES });
        await report({ statuses, events }, { about: count, status, events: planned });
        return undefined;
      },
    });
    const enqueueAll = (): void => {
      for (const count of counts.list()) controller.queue.add(keyOf(count));
    };
    informer.subscribe(({ object }) => controller.queue.add(keyOf(object)));
    nodes.subscribe(enqueueAll);
    return { parts: [cachePart(informer), controllerPart(controller)], enqueueAll };
  },
  async cleanUp({ client }) {
    for (const count of await client.list(NODE_COUNTS)) {
      const how = { fieldManager: 'nodecount', subresource: 'status' };
      await client.mergePatch(NODE_COUNTS, refOfKey(keyOf(count)), { status: null }, how);
    }
  },
});

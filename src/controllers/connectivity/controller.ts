import { Gauge, type Registry } from 'prom-client';
import type { Informer, ReflectorMetrics } from '../../runtime/cache/informer.ts';
import type { Client } from '../../runtime/client/client.ts';
import type { KubeObject, ObjectRef } from '../../runtime/client/resource.ts';
import type { Transport } from '../../runtime/client/transport.ts';
import { Controller, type ControllerMetrics } from '../../runtime/controller/controller.ts';
import type { EventRecorder } from '../../runtime/controller/events.ts';
import { METRIC_PREFIX } from '../../runtime/manager/metrics.ts';
import { isOff } from '../../runtime/objectSet/plan.ts';
import { watchMembers } from '../../runtime/objectSet/observe.ts';
import { systemClock, type Clock } from '../../runtime/process/clock.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { Problem } from '../../runtime/process/problem.ts';
import { ProblemReport } from '../../runtime/status/problemReport.ts';
import type { StackSource } from '../contract/context.ts';
import { createStackOwnershipCache } from '../contract/stackOwnershipCache.ts';
import { allComponents } from './components/components.ts';
import { deployedByFlags, STACK_TYPES, switchedOff } from './decide/stackGroups.ts';
import type { DeploymentOptions } from './flags.ts';
import { createReconcile } from './reconcile.ts';

/** The metrics of the deployment of the connectivity check. */
interface ConnectivityMetrics {
  /** Sets the number of present problems. */
  problems(count: number): void;
}

/** Registers the metrics. Call once for each registry. */
export function createConnectivityMetrics(registry: Registry): ConnectivityMetrics {
  const gauge = new Gauge({
    name: `${METRIC_PREFIX}connectivity_deployment_problems`,
    help: 'Problems that keep the server or the agents of the connectivity check from the desired state.',
    registers: [registry],
  });
  return { problems: (count) => gauge.set(count) };
}

export interface ConnectivityControllerOptions {
  /** Refuses writes in a standby. */
  readonly client: Client;
  readonly transport: Transport;
  readonly stacks: StackSource;
  readonly options: DeploymentOptions;
  /** The pod that this process runs in. Its Deployment owns the objects in its namespace. */
  readonly pod?: ObjectRef | undefined;
  readonly recorder?: Pick<EventRecorder, 'event'>;
  readonly logger: Logger;
  readonly metrics?: {
    readonly controller?: ControllerMetrics;
    readonly reflector?: ReflectorMetrics;
    readonly connectivity?: ConnectivityMetrics;
  };
  readonly clock?: Clock;
}

/** The running deployment of the connectivity check. */
export interface ConnectivityDeployment {
  readonly informers: readonly Informer<KubeObject>[];
  /** Whether the object of an informer is to be deployed; all others are only removed. */
  isNeeded(informer: Informer<KubeObject>): boolean;
  readonly controller: Controller;
  /** Enqueues everything and reports all problems again. Call at the start of leadership. */
  enqueueAll(): void;
  /** The present problems; empty if everything is in the desired state. */
  problems(): readonly Problem[];
}

const KEY = 'components';

/** Creates the controller that deploys the server and the agents of the connectivity check, or removes them. */
export function createConnectivityController(settings: ConnectivityControllerOptions): ConnectivityDeployment {
  const { transport, options, recorder, logger, metrics = {}, clock = systemClock } = settings;
  let enqueue = (): void => undefined;
  const components = allComponents(options);
  const caches = watchMembers(components, {
    transport,
    logger,
    clock,
    onRefusal: () => enqueue(),
    ...(metrics.reflector && { metrics: metrics.reflector }),
  });
  const stacks = createStackOwnershipCache(settings.stacks, STACK_TYPES, components, deployedByFlags(options));
  const report = new ProblemReport({
    name: 'connectivity',
    action: 'Deploy',
    namespace: options.namespace,
    logger,
    onChange: (count) => metrics.connectivity?.problems(count),
    ...(recorder && { recorder }),
  });
  const controller = new Controller({
    name: 'connectivity',
    reconcile: createReconcile({ ...settings, caches, stacks, report }),
    logger,
    clock,
    ...(metrics.controller && { metrics: metrics.controller }),
  });
  enqueue = () => controller.queue.add(KEY);
  for (const informer of caches.informers) informer.subscribe(enqueue);
  stacks.subscribe(() => enqueue());
  enqueue();
  return {
    informers: caches.informers,
    isNeeded: (informer) => !isOff(switchedOff(options), caches.groupOf(informer)),
    controller,
    enqueueAll: () => {
      report.tellAgain();
      enqueue();
    },
    problems: () => report.current,
  };
}

import { Gauge, type Registry } from 'prom-client';
import { StackCondition } from '../../api/trafficstack/reasons.ts';
import { COMPONENT_STATES, type ComponentState } from '../../api/trafficstack/terms.ts';
import type { TrafficStackStatus, ComponentStatus } from '../../api/trafficstack/trafficStack.ts';
import { findCondition, type Condition } from '../../runtime/controller/conditions.ts';
import { METRIC_PREFIX } from '../../runtime/manager/metrics.ts';
import { silentBudgets, type CreateBudget, type NamedSeries } from '../../runtime/manager/seriesBudget.ts';

/** The metrics of TrafficStacks. Only the leader has their series. */
export interface TrafficStackMetrics {
  /** Records the status of the TrafficStack `name`. */
  record(name: string, status: TrafficStackStatus): void;
  /** Drops all series of the TrafficStack `name`. */
  forget(name: string): void;
}

interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * Names with series within three hours: the stack, each component, and each pair of a component and its root. A component has at most ten series. A
 * stack has up to 200 components, each with a root.
 */
const MOST_NAMES = { ofOwner: 600, ofAll: 1_500 };

/** A gauge with a series for each stack or each component. */
interface Definition<Figures> {
  readonly name: string;
  readonly help: string;
  /** Labels besides the names of stack and component. */
  readonly labels?: readonly string[];
  readonly samples: (figures: Figures) => readonly Sample[];
}

const OF_STACK: readonly Definition<StackFigures>[] = [
  {
    name: 'ready',
    help: '1 if a TrafficStack is ready, 0 if not, with the reason of its condition.',
    labels: ['reason'],
    samples: ({ ready }) => conditionSamples(ready),
  },
  {
    name: 'ready_since_timestamp_seconds',
    help: 'When a TrafficStack became ready, or stopped being ready, in seconds since 1970.',
    samples: ({ ready }) => single(ready?.since),
  },
  {
    name: 'stalled',
    help: '1 if only people can help a TrafficStack, 0 if not, with the reason of its condition. Absent while it cannot be read.',
    labels: ['reason'],
    samples: ({ stalled }) => conditionSamples(stalled),
  },
];

const OF_COMPONENT: readonly Definition<ComponentFigures>[] = [
  {
    name: 'state',
    help: `1 for the present state of a component, 0 for the others: ${COMPONENT_STATES.join(', ')}.`,
    labels: ['state'],
    samples: (present) =>
      COMPONENT_STATES.map((state) => ({ labels: { state }, value: state === present.state ? 1 : 0 })),
  },
  {
    name: 'since_timestamp_seconds',
    help: 'When a component came into its state, in seconds since 1970.',
    samples: ({ since }) => single(since),
  },
  {
    name: 'pods_desired',
    help: 'Pods that a component should have. Absent while its workload does not exist or has no status of its generation.',
    samples: ({ desired }) => single(desired),
  },
  {
    name: 'pods_available',
    help: 'Available pods of a component. Absent while its workload does not exist or has no status of its generation.',
    samples: ({ available }) => single(available),
  },
  {
    name: 'waiting_on',
    help: 'Always 1. The label root is the component at the root of the chain that a component waits for. Absent if it waits for none.',
    labels: ['root'],
    samples: ({ root }) => (root === undefined ? [] : [{ labels: { root }, value: 1 }]),
  },
];

/**
 * Creates the metrics: three series for each stack, and at most eleven for each component. They are computed at each scrape from the last status, so
 * that a removed component has none.
 */
export function createTrafficStackMetrics(
  registry: Registry,
  createBudget: CreateBudget = silentBudgets,
): TrafficStackMetrics {
  const known = new Map<string, StackFigures>();
  const budget = createBudget('TrafficStack', MOST_NAMES);
  for (const { name, help, labels = [], samples } of [...OF_STACK, ...OF_COMPONENT.map(ofEachComponent)]) {
    new Gauge({
      name: `${METRIC_PREFIX}stack_${name}`,
      help: `${help} Only the leader reports it.`,
      labelNames: ['stack', ...labels],
      registers: [registry],
      collect() {
        this.reset();
        for (const [stack, figures] of known) {
          for (const sample of samples(figures)) this.set({ stack, ...sample.labels }, sample.value);
        }
      },
    });
  }
  return {
    record(name, status) {
      const figures = figuresOf(status);
      const placed = budget.show(name, namesIn(name, figures));
      if (placed.has('')) known.set(name, { ...figures, components: placedComponents(figures, placed) });
      else known.delete(name);
    },
    forget(name) {
      known.delete(name);
      budget.forget(name);
    },
  };
}

/** Returns the names that users choose. The stack itself has an empty id. */
function* namesIn(owner: string, { components }: StackFigures): Generator<NamedSeries> {
  yield { owner, id: '' };
  for (const { name } of components) yield { owner, id: name };
  for (const component of components) if (component.root !== undefined) yield { owner, id: rootId(component) };
}

function rootId({ name, root = '' }: ComponentFigures): string {
  return `${name} ${root}`;
}

function placedComponents({ components }: StackFigures, placed: ReadonlySet<string>): ComponentFigures[] {
  return components
    .filter(({ name }) => placed.has(name))
    .map((component) => (placed.has(rootId(component)) ? component : { ...component, root: undefined }));
}

function ofEachComponent({ name, help, labels = [], samples }: Definition<ComponentFigures>): Definition<StackFigures> {
  return {
    ...{ name: `component_${name}`, help, labels: ['component', ...labels] },
    samples: ({ components }) =>
      components.flatMap((component) =>
        samples(component).map((sample) => ({ ...sample, labels: { component: component.name, ...sample.labels } })),
      ),
  };
}

function conditionSamples(condition: ConditionFigures | undefined): Sample[] {
  return condition === undefined ? [] : [{ labels: { reason: condition.reason }, value: condition.isTrue ? 1 : 0 }];
}

function single(value: number | undefined): Sample[] {
  return value === undefined ? [] : [{ value }];
}

/** The values of a stack for its metrics. */
interface StackFigures {
  /** The condition Ready. */
  readonly ready?: ConditionFigures;
  /** The condition Stalled; undefined while it is Unknown. */
  readonly stalled?: ConditionFigures;
  readonly components: readonly ComponentFigures[];
}

/** A condition that is True or False. */
interface ConditionFigures {
  readonly isTrue: boolean;
  readonly reason: string;
  /** Seconds since 1970. */
  readonly since: number;
}

/** The values of a component for its metrics. */
interface ComponentFigures {
  readonly name: string;
  readonly state: ComponentState;
  /** Seconds since 1970. */
  readonly since: number;
  /** Pods. */
  readonly desired?: number | undefined;
  readonly available?: number | undefined;
  /** The component at the root of the chain that it waits for. */
  readonly root?: string | undefined;
}

/** Returns the values of a status for the metrics. */
export function figuresOf({ components = [], conditions }: TrafficStackStatus): StackFigures {
  return {
    ...known('ready', findCondition(conditions, StackCondition.Ready)),
    ...known('stalled', findCondition(conditions, StackCondition.Stalled)),
    components: components.map(componentFigures),
  };
}

function known<K extends string>(key: K, condition: Condition | undefined): Partial<Record<K, ConditionFigures>> {
  if (condition === undefined || condition.status === 'Unknown') return {};
  const { status, reason, lastTransitionTime } = condition;
  const figures = { isTrue: status === 'True', reason, since: seconds(lastTransitionTime) };
  return { [key]: figures } as Record<K, ConditionFigures>;
}

function componentFigures(component: ComponentStatus): ComponentFigures {
  const { name, state, since, replicas: desired, readyReplicas: available, waitingOn } = component;
  return { name, state, since: seconds(since), desired, available, root: waitingOn?.component };
}

/** @param time RFC 3339 */
function seconds(time: string): number {
  return Date.parse(time) / 1_000;
}

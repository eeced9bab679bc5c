import { Gauge, type Registry } from 'prom-client';
import { COMPONENT_STATES } from '../../api/trafficstack/terms.ts';
import type { TrafficStackStatus } from '../../api/trafficstack/trafficStack.ts';
import { METRIC_PREFIX } from '../../runtime/manager/metrics.ts';
import { figuresOf, type ComponentFigures, type ConditionFigures, type StackFigures } from './decide/figures.ts';

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

/** A gauge of all stacks, or of all components. */
interface Definition<Figures> {
  readonly name: string;
  readonly help: string;
  /** Labels besides those of the stack, or of the component. */
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
 * Creates the metrics: three series for each stack, and at most eleven for each of its components. They are made from the last status
 * when they are asked for, so that a component that is gone has none.
 */
export function createTrafficStackMetrics(registry: Registry): TrafficStackMetrics {
  const known = new Map<string, StackFigures>();
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
    record: (name, status) => void known.set(name, figuresOf(status)),
    forget: (name) => void known.delete(name),
  };
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

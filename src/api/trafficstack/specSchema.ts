import * as z from 'zod';
import {
  FOREIGN_TYPES,
  NAMED_TYPES,
  type ExternalKind,
  SINGLE_TYPES,
  type BuiltInType,
  type ComponentMode,
  type ComponentType,
  COMPONENT_MODES,
  COMPONENT_TYPES,
  DEFAULT_DEADLINE,
} from './terms.ts';
import { durationSchema, patternSchema } from '../fieldSchemas.ts';
import {
  connectivityAgentsSchema,
  connectivityServerSchema,
  dashboardsSchema,
  externalSchema,
  type ExternalSpec,
  nodeExporterSchema,
  rulesSchema,
  weightsSchema,
  prometheusSchema,
} from './builtInSchema.ts';
import { objectsSchema } from './objectKinds.ts';
import { commonSchema, highAvailabilitySchema, LABEL, workloadSchema } from './podSchemas.ts';

/** A rule of the CRD, and the same as code. */
interface Rule<T> {
  readonly rule: string;
  readonly message: string;
  /** The field of the value that the message is about. Default: the value. */
  readonly field?: string;
  readonly holds: (value: T) => boolean;
}

type Settings =
  'nodeExporter' | 'prometheus' | 'connectivityServer' | 'connectivityAgents' | 'weights' | 'dashboards' | 'rules';

/** The fields that the rules of a component check. */
type Ruled = Readonly<Partial<Record<Settings, unknown>>> & {
  readonly type: ComponentType;
  readonly mode?: ComponentMode | undefined;
  readonly external?: ExternalSpec | undefined;
  readonly workload?: { readonly podTemplate?: unknown } | undefined;
  readonly objects?: unknown;
};

const WORKLOAD_RULE: Rule<Ruled> = {
  rule: "has(self.workload) == (self.type == 'Workload')",
  message: 'workload: must be set for the type Workload, and for no other',
  holds: ({ type, workload }) => (workload !== undefined) === (type === 'Workload'),
};

const OBJECTS_RULE: Rule<Ruled> = {
  rule: "has(self.objects) == (self.type == 'Objects')",
  message: 'objects: must be set for the type Objects, and for no other',
  holds: ({ type, objects }) => (objects !== undefined) === (type === 'Objects'),
};

function settingsRule(field: Settings, type: BuiltInType): Rule<Ruled> {
  return {
    rule: `!has(self.${field}) || self.type == '${type}'`,
    message: `${field}: only the type ${type} has it`,
    holds: (component) => component[field] === undefined || component.type === type,
  };
}

const TEMPLATE_RULE: Rule<Ruled> = {
  rule: "!has(self.workload) || has(self.workload.podTemplate) || (has(self.mode) && self.mode == 'External')",
  message: 'workload.podTemplate is required unless mode is External',
  holds: ({ mode, workload }) => mode === 'External' || workload === undefined || workload.podTemplate !== undefined,
};

const MODE_RULE: Rule<Ruled> = {
  rule: `self.type in [${FOREIGN_TYPES.map((type) => `'${type}'`).join(', ')}] || !has(self.mode) || self.mode in ['Managed', 'Disabled']`,
  message: 'mode: only the types Workload, NodeExporter, Prometheus and Weights may be External or Auto',
  holds: ({ type, mode = 'Managed' }) => FOREIGN_TYPES.includes(type) || mode === 'Managed' || mode === 'Disabled',
};

const EXTERNAL_RULE: Rule<Ruled> = {
  field: 'external',
  rule: `!has(self.external) || (has(self.mode) && self.mode == 'External' && self.type in [${NAMED_TYPES.map((type) => `'${type}'`).join(', ')}])`,
  message: 'must be absent, unless mode is External and the type is NodeExporter or Prometheus',
  holds: ({ type, mode, external }) => external === undefined || (mode === 'External' && NAMED_TYPES.includes(type)),
};

const EXPORTER_RULE: Rule<Ruled> = {
  field: 'external',
  rule:
    "!has(self.external) || self.type != 'NodeExporter' || (has(self.external.kind) && !has(self.external.url) && " +
    "(self.external.kind == 'DaemonSet' ? has(self.external.namespace) && has(self.external.name) : " +
    "self.external.kind == 'Node' && !has(self.external.namespace) && !has(self.external.name)))",
  message: 'must have the kind DaemonSet with namespace and name, or the kind Node alone',
  holds: ({ type, external }) =>
    external === undefined ||
    type !== 'NodeExporter' ||
    (external.url === undefined && (isOnNodes(external) || isNamed(external, 'DaemonSet'))),
};

const PROMETHEUS_RULE: Rule<Ruled> = {
  field: 'external',
  rule:
    "!has(self.external) || self.type != 'Prometheus' || (has(self.external.url) ? " +
    '!has(self.external.kind) && !has(self.external.namespace) && !has(self.external.name) : ' +
    "has(self.external.kind) && self.external.kind == 'Service' && has(self.external.namespace) && has(self.external.name))",
  message: 'must have the kind Service with namespace and name, or a url alone',
  holds: ({ type, external }) =>
    external === undefined ||
    type !== 'Prometheus' ||
    (external.url === undefined ? isNamed(external, 'Service') : isUrlAlone(external)),
};

function isNamed({ kind, namespace, name }: ExternalSpec, wanted: ExternalKind): boolean {
  return kind === wanted && namespace !== undefined && name !== undefined;
}

function isUrlAlone({ kind, namespace, name }: ExternalSpec): boolean {
  return kind === undefined && namespace === undefined && name === undefined;
}

function isOnNodes({ kind, namespace, name }: ExternalSpec): boolean {
  return kind === 'Node' && namespace === undefined && name === undefined;
}

const WEIGHTS_RULE: Rule<Ruled> = {
  rule: "self.type != 'Weights' || has(self.weights) || (has(self.mode) && self.mode == 'External')",
  message: 'weights is required for the type Weights unless mode is External',
  holds: ({ type, mode, weights }) => type !== 'Weights' || weights !== undefined || mode === 'External',
};

/** Rules of a component. */
const COMPONENT_RULES: readonly Rule<Ruled>[] = [
  WORKLOAD_RULE,
  OBJECTS_RULE,
  TEMPLATE_RULE,
  MODE_RULE,
  EXTERNAL_RULE,
  EXPORTER_RULE,
  PROMETHEUS_RULE,
  WEIGHTS_RULE,
  settingsRule('nodeExporter', 'NodeExporter'),
  settingsRule('prometheus', 'Prometheus'),
  settingsRule('connectivityServer', 'ConnectivityServer'),
  settingsRule('connectivityAgents', 'ConnectivityAgents'),
  settingsRule('weights', 'Weights'),
  settingsRule('dashboards', 'Dashboards'),
  settingsRule('rules', 'Rules'),
];

function onceRule(type: ComponentType): Rule<readonly Pick<Ruled, 'type'>[]> {
  return {
    rule: `self.filter(c, c.type == '${type}').size() <= 1`,
    message: `at most one component may have the type ${type}`,
    holds: (components) => components.filter((each) => each.type === type).length <= 1,
  };
}

/** Rules of the list of components. */
const COMPONENTS_RULES = SINGLE_TYPES.map(onceRule);

/** The rules as the CRD has them. */
function crdRules(rules: readonly Pick<Rule<never>, 'rule' | 'message' | 'field'>[]): object {
  return {
    'x-kubernetes-validations': rules.map(({ rule, message, field }) => ({
      ...{ rule, message },
      ...(field !== undefined && { fieldPath: `.${field}` }),
    })),
  };
}

/** Checks a value as the CRD does. */
function checkRules<T>(rules: readonly Rule<T>[]) {
  return (value: T, context: z.core.$RefinementCtx): void => {
    for (const { holds, message, field } of rules) {
      if (!holds(value)) context.addIssue({ code: 'custom', message, ...(field !== undefined && { path: [field] }) });
    }
  };
}

const MOST_COMPONENTS = 200;
const MOST_DEPENDENCIES = 50;
const LONGEST_EXPRESSION = 4_096;
const LONGEST_QUERY = 4_096;
const READY_MESSAGE = 'must have an expression or a query';

const text = (description: string) => z.string().min(1).max(LONGEST_EXPRESSION).optional().meta({ description });

const ready = z
  .object({
    expression: text(
      'CEL that returns true or false, over the live objects workload and services, and self, components and common as in config files. Such as ' +
        '"workload.status.readyReplicas >= 2".',
    ),
    query: text(
      'PromQL, sent to the Prometheus of the operator. True if it returns at least one series and none is 0 or NaN.',
    ),
  })
  .refine(({ expression, query }) => expression !== undefined || query !== undefined, READY_MESSAGE)
  .optional()
  .meta({
    description:
      'Conditions of readiness in addition to ready pods: the component counts as ready when all pods are ready and these are true.',
    'x-kubernetes-validations': [{ rule: 'has(self.expression) || has(self.query)', message: READY_MESSAGE }],
  });

const upgrade = z
  .object({
    query: z
      .string()
      .min(1)
      .max(LONGEST_QUERY)
      .optional()
      .meta({
        description:
          'PromQL that must be true before the operator changes an existing component whose dependencies are ready. Sent to the ' +
          'Prometheus of the operator. True if it returns at least one series and none is 0 or NaN. Without an answer, changes wait.',
      }),
    rollback: z
      .boolean()
      .optional()
      .meta({
        description:
          'Whether the operator restores the last ready revision of a changed component that misses its deadline, until its spec ' +
          'changes. Default: false.',
      }),
  })
  .optional()
  .meta({ description: 'How the operator changes existing components.' });

const component = z
  .object({
    name: patternSchema('Name of the component, unique in the stack.', LABEL),
    type: z.enum(COMPONENT_TYPES).meta({
      description: `Type of the component: ${COMPONENT_TYPES.join(', ')}. A stack may have several components of the types Workload, Weights and Objects, and one of each other type.`,
    }),
    mode: z
      .enum(COMPONENT_MODES)
      .optional()
      .meta({
        description:
          'Managed: the stack creates the objects and keeps them. External: another owner creates the workload or TrafficWeight; the stack ' +
          'waits for it and never writes it. Auto: External if another owner has created it, else Managed; in the stack default, the ' +
          'operator then sets External and external. Disabled: the stack deletes the objects. Default: Managed. The types Workload, NodeExporter, Prometheus and Weights may be External or Auto.',
      }),
    external: externalSchema,
    dependsOn: z.array(patternSchema('Name of a component.', LABEL)).max(MOST_DEPENDENCIES).optional().meta({
      description:
        'Components of the stack that must be ready before the operator creates or changes an object of this component.',
      'x-kubernetes-list-type': 'set',
    }),
    deadline: durationSchema(
      `How long the component may take to become ready before it counts as failed. Default: "${DEFAULT_DEADLINE}".`,
    ),
    ready,
    highAvailability: z.boolean().optional().meta({
      description:
        'False: spec.highAvailability does not apply to this component. Default: true. It never applies to built-in types.',
    }),
    rollback: z.boolean().optional().meta({
      description:
        'False: spec.upgrade.rollback does not apply to this component, for example because its data cannot go back. Default: true. It never applies to Weights and Objects.',
    }),
    workload: workloadSchema.optional(),
    nodeExporter: nodeExporterSchema,
    prometheus: prometheusSchema,
    connectivityServer: connectivityServerSchema,
    connectivityAgents: connectivityAgentsSchema,
    weights: weightsSchema,
    dashboards: dashboardsSchema,
    rules: rulesSchema,
    objects: objectsSchema,
  })
  .superRefine(checkRules(COMPONENT_RULES))
  .meta({ description: 'One part of the stack.', ...crdRules(COMPONENT_RULES) });

/** Schema of `spec`. */
export const specSchema = z
  .object({
    common: commonSchema,
    highAvailability: highAvailabilitySchema,
    upgrade,
    components: z
      .array(component)
      .max(MOST_COMPONENTS)
      .superRefine(checkRules(COMPONENTS_RULES))
      .meta({
        ...crdRules(COMPONENTS_RULES),
        description:
          'The parts of the stack. The operator starts them in the order of their dependencies, else in parallel.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      }),
  })
  .meta({ description: 'The components of the stack, and their dependencies.' });

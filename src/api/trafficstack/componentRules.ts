import type * as z from 'zod';
import { FOREIGN_TYPES, SINGLE_TYPES, type BuiltInType, type ComponentType } from './terms.ts';
import type { ComponentSpec } from './trafficStack.ts';

/** A rule of the CRD, and the same as code. */
interface Rule<T> {
  readonly rule: string;
  readonly message: string;
  readonly holds: (value: T) => boolean;
}

const WORKLOAD_RULE: Rule<ComponentSpec> = {
  rule: "has(self.workload) == (self.type == 'Workload')",
  message: 'workload: must be set for the type Workload, and for no other',
  holds: ({ type, workload }) => (workload !== undefined) === (type === 'Workload'),
};

type Settings =
  'nodeExporter' | 'prometheus' | 'connectivityServer' | 'connectivityAgents' | 'weights' | 'dashboards' | 'rules';

function settingsRule(field: Settings, type: BuiltInType): Rule<ComponentSpec> {
  return {
    rule: `!has(self.${field}) || self.type == '${type}'`,
    message: `${field}: only the type ${type} has it`,
    holds: (component) => component[field] === undefined || component.type === type,
  };
}

const TEMPLATE_RULE: Rule<ComponentSpec> = {
  rule: "!has(self.workload) || has(self.workload.podTemplate) || (has(self.mode) && self.mode == 'External')",
  message: 'workload.podTemplate is required unless mode is External',
  holds: ({ mode, workload }) => mode === 'External' || workload === undefined || workload.podTemplate !== undefined,
};

const MODE_RULE: Rule<ComponentSpec> = {
  rule: `self.type in [${FOREIGN_TYPES.map((type) => `'${type}'`).join(', ')}] || !has(self.mode) || self.mode in ['Managed', 'Disabled']`,
  message: 'mode: only the types Workload, NodeExporter, Prometheus and Weights may be External or Auto',
  holds: ({ type, mode = 'Managed' }) => FOREIGN_TYPES.includes(type) || mode === 'Managed' || mode === 'Disabled',
};

const WEIGHTS_RULE: Rule<ComponentSpec> = {
  rule: "self.type != 'Weights' || has(self.weights) || (has(self.mode) && self.mode == 'External')",
  message: 'weights is required for the type Weights unless mode is External',
  holds: ({ type, mode, weights }) => type !== 'Weights' || weights !== undefined || mode === 'External',
};

/** Rules of a component. */
export const COMPONENT_RULES: readonly Rule<ComponentSpec>[] = [
  WORKLOAD_RULE,
  TEMPLATE_RULE,
  MODE_RULE,
  WEIGHTS_RULE,
  settingsRule('nodeExporter', 'NodeExporter'),
  settingsRule('prometheus', 'Prometheus'),
  settingsRule('connectivityServer', 'ConnectivityServer'),
  settingsRule('connectivityAgents', 'ConnectivityAgents'),
  settingsRule('weights', 'Weights'),
  settingsRule('dashboards', 'Dashboards'),
  settingsRule('rules', 'Rules'),
];

function onceRule(type: ComponentType): Rule<readonly Pick<ComponentSpec, 'type'>[]> {
  return {
    rule: `self.filter(c, c.type == '${type}').size() <= 1`,
    message: `at most one component may have the type ${type}`,
    holds: (components) => components.filter((each) => each.type === type).length <= 1,
  };
}

/** Rules of the list of components. */
export const COMPONENTS_RULES = SINGLE_TYPES.map(onceRule);

/** The rules as the CRD has them. */
export function crdRules(rules: readonly Pick<Rule<never>, 'rule' | 'message'>[]): object {
  return { 'x-kubernetes-validations': rules.map(({ rule, message }) => ({ rule, message })) };
}

/** Checks a value as the CRD does. */
export function checkRules<T>(rules: readonly Rule<T>[]) {
  return (value: T, context: z.core.$RefinementCtx): void => {
    for (const { holds, message } of rules) if (!holds(value)) context.addIssue({ code: 'custom', message });
  };
}

import * as z from 'zod';
import { durationSchema } from '../durationSchema.ts';
import { patternSchema } from '../patternSchema.ts';
import {
  connectivityAgentsSchema,
  connectivityServerSchema,
  dashboardsSchema,
  nodeExporterSchema,
  rulesSchema,
  weightsSchema,
} from './builtInSchema.ts';
import { checkRules, COMPONENT_RULES, COMPONENTS_RULES, crdRules } from './componentRules.ts';
import { commonSchema, highAvailabilitySchema } from './placementSchema.ts';
import { COMPONENT_MODES, COMPONENT_TYPES, DEFAULT_DEADLINE } from './terms.ts';
import { prometheusSchema } from './prometheusSchema.ts';
import { upgradeSchema } from './upgradeSchema.ts';
import { LABEL, workloadSchema } from './workloadSchema.ts';

const MOST_COMPONENTS = 200;
const MOST_DEPENDENCIES = 50;
const LONGEST_EXPRESSION = 4_096;
const READY_MESSAGE = 'must have an expression or a query';

const text = (description: string) => z.string().min(1).max(LONGEST_EXPRESSION).optional().meta({ description });

const ready = z
  .object({
    expression: text(
      'CEL that gives a bool, over the live objects workload and services, and self, components and common as in config files. Such as ' +
        '"workload.status.readyReplicas >= 2".',
    ),
    query: text(
      'PromQL, asked of the Prometheus of the operator. True if it gives at least one series and none is 0 or NaN.',
    ),
  })
  .refine(({ expression, query }) => expression !== undefined || query !== undefined, READY_MESSAGE)
  .optional()
  .meta({
    description: 'What must be true, beside the readiness of all pods, before the component counts as ready.',
    'x-kubernetes-validations': [{ rule: 'has(self.expression) || has(self.query)', message: READY_MESSAGE }],
  });

const component = z
  .object({
    name: patternSchema('Name of the component, unique in the stack.', LABEL),
    type: z.enum(COMPONENT_TYPES).meta({
      description: `What it is: ${COMPONENT_TYPES.join(', ')}. A stack may have several of the types Workload and Weights, and one of each other.`,
    }),
    mode: z
      .enum(COMPONENT_MODES)
      .optional()
      .meta({
        description:
          'Managed: its objects are created and kept. External: somebody else has made the workload or TrafficWeight; it is waited for, and ' +
          'never written. Auto: External if somebody else has made it, else Managed. Disabled: its objects are deleted. Default: Managed. ' +
          'External and Auto are for the types Workload, NodeExporter, Prometheus and Weights.',
      }),
    dependsOn: z.array(patternSchema('Name of a component.', LABEL)).max(MOST_DEPENDENCIES).optional().meta({
      description: 'Components of the stack that must be ready before anything of this one is created or changed.',
      'x-kubernetes-list-type': 'set',
    }),
    deadline: durationSchema(
      `How long it may take to be ready until it counts as failed. Default: "${DEFAULT_DEADLINE}".`,
    ),
    ready,
    highAvailability: z.boolean().optional().meta({
      description:
        'False: spec.highAvailability is not for this component. Default: true. It is never for built-in types.',
    }),
    rollback: z.boolean().optional().meta({
      description:
        'False: spec.upgrade.rollback is not for this component, as for data that cannot go back. Default: true. It is never for Weights.',
    }),
    workload: workloadSchema.optional(),
    nodeExporter: nodeExporterSchema,
    prometheus: prometheusSchema,
    connectivityServer: connectivityServerSchema,
    connectivityAgents: connectivityAgentsSchema,
    weights: weightsSchema,
    dashboards: dashboardsSchema,
    rules: rulesSchema,
  })
  .superRefine(checkRules(COMPONENT_RULES))
  .meta({ description: 'One part of the stack.', ...crdRules(COMPONENT_RULES) });

/** Schema of `spec`. */
export const specSchema = z
  .object({
    common: commonSchema,
    highAvailability: highAvailabilitySchema,
    upgrade: upgradeSchema,
    components: z
      .array(component)
      .max(MOST_COMPONENTS)
      .superRefine(checkRules(COMPONENTS_RULES))
      .meta({
        ...crdRules(COMPONENTS_RULES),
        description:
          'The parts of the stack. They are brought up in the order of their dependencies, else in parallel.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      }),
  })
  .meta({ description: 'Which components there are, and which of them need which.' });

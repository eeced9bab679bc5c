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

const component = z
  .object({
    name: patternSchema('Name of the component, unique in the stack.', LABEL),
    type: z.enum(COMPONENT_TYPES).meta({
      description: `Type of the component: ${COMPONENT_TYPES.join(', ')}. A stack may have several components of the types Workload and Weights, and one of each other type.`,
    }),
    mode: z
      .enum(COMPONENT_MODES)
      .optional()
      .meta({
        description:
          'Managed: the stack creates the objects and keeps them. External: another owner creates the workload or TrafficWeight; the stack ' +
          'waits for it and never writes it. Auto: External if another owner has created it, else Managed. Disabled: the stack deletes the ' +
          'objects. Default: Managed. The types Workload, NodeExporter, Prometheus and Weights may be External or Auto.',
      }),
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
        'False: spec.upgrade.rollback does not apply to this component, for example because its data cannot go back. Default: true. It never applies to Weights.',
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
          'The parts of the stack. The operator starts them in the order of their dependencies, else in parallel.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      }),
  })
  .meta({ description: 'The components of the stack, and their dependencies.' });

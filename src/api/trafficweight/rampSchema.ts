import * as z from 'zod';
import { durationSchema, int32, patternSchema } from '../fieldSchemas.ts';
import {
  DEFAULT_ROLLBACK,
  GATE_RESULTS,
  LONGEST_QUERY,
  MOST_WEIGHT,
  RAMP_DIRECTIONS,
  RAMP_PHASES,
  ROLLBACKS,
} from './terms.ts';

const CONDITION = {
  pattern: '^(<|<=|>|>=|==|!=) ?-?[0-9]{1,15}([.][0-9]{1,15})?$',
  message: 'must be a comparison with a number, such as "< 0.01" or ">= 99.5"',
  longest: 40,
};
const MOST_FAILURES = 100;

const gate = z
  .object({
    query: z.string().min(1).max(LONGEST_QUERY).meta({
      description:
        'PromQL that returns one series, sent to the Prometheus of the operator. While it returns no number, the ramp waits.',
    }),
    condition: patternSchema('Condition that the value must meet, such as "< 0.01".', CONDITION),
    failureLimit: z
      .int()
      .min(0)
      .max(MOST_FAILURES)
      .optional()
      .meta({
        format: 'int32',
        description:
          'How often the condition may fail during one change. After such a failure the ramp waits for the interval, and queries again. ' +
          'Default: 0, so that the first failure rolls back.',
      }),
  })
  .meta({ description: 'Is queried before each step, and an interval after the last step.' });

/** Schema of `spec.ramp`. */
export const rampSchema = z
  .object({
    step: z.int().min(1).max(MOST_WEIGHT).meta({
      format: 'int32',
      description: 'How much the weight changes at most in one step.',
    }),
    interval: durationSchema(
      'Time from a step that is in force to the next one. At least twice the TTL of the records counts. Default: twice the TTL.',
    ),
    gate: gate.optional(),
    rollback: z
      .enum(ROLLBACKS)
      .optional()
      .meta({
        description:
          'What happens when the gate has failed. Gradual: back to the weight before in steps. Immediate: back at once. Hold: the weight ' +
          `is unchanged. Another desired weight begins a new ramp. Default: ${DEFAULT_ROLLBACK}.`,
      }),
    direction: z
      .enum(RAMP_DIRECTIONS)
      .optional()
      .meta({
        description:
          'Which changes are ramped. Up: only to a higher weight, so that a cluster can be drained at once, whatever the gate says. ' +
          'Default: Both.',
      }),
  })
  .optional()
  .meta({ description: 'Changes of the weight proceed in steps. Absent: at once.' });

/** Schema of `status.ramp`. */
export const rampStatusSchema = z
  .object({
    from: int32('The weight before the change.'),
    target: int32('The desired weight of the change.'),
    weight: int32('The weight of this step, which the records have.'),
    // No enum: an older CRD would then reject a status with a word that is new.
    phase: z.string().meta({ description: `One of ${RAMP_PHASES.join(', ')}.` }),
    failures: int32('How often the gate has failed.'),
    nextStepTime: z.string().optional().meta({
      format: 'date-time',
      description: 'When the next step is due. Absent until this one is in force, and after the last.',
    }),
    gate: z
      .object({
        result: z.string().meta({ description: `One of ${GATE_RESULTS.join(', ')}.` }),
        value: z.string().optional().meta({ description: 'The value of the query, a number.' }),
        message: z.string().optional().meta({ description: 'Why there is no value.' }),
      })
      .optional()
      .meta({ description: 'The last result of the gate. Absent before its first query.' }),
    message: z.string().meta({ description: 'What the ramp waits for, as a sentence.' }),
  })
  .optional()
  .meta({ description: 'The change of the weight that is under way, or was rolled back. Absent without one.' });

import * as z from 'zod';
import { reportSchema } from '../../../../api/agent/report.ts';
import type { AgentState } from '../../reports/reports.ts';

/** A value in etcd: the fields of the report, as the original stored them, and the counters. */
const valueSchema = reportSchema.extend({
  report_count: z.int().nonnegative().default(0),
  error_count: z.int().nonnegative().default(0),
  /** Whether the report came without a token. */
  anonymous: z.boolean().default(false),
});

/** The value of an agent, JSON. */
export function agentValue({ report, reportCount, errorCount, anonymous }: AgentState): string {
  const mark = anonymous === true ? { anonymous } : {};
  return JSON.stringify({ ...report, report_count: reportCount, error_count: errorCount, ...mark });
}

/** Reads the value of an agent. Undefined if the text is not a value of this pod's agent. */
export function readAgentValue(pod: string, text: string): AgentState | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { success, data } = valueSchema.safeParse(json);
  if (!success || data.podname !== pod) return undefined;
  const { report_count: reportCount, error_count: errorCount, anonymous, ...report } = data;
  return { report, reportCount, errorCount, anonymous };
}

import * as z from 'zod';
import { reportSchema } from '../../../api/agent/report.ts';
import type { AgentState } from '../reports.ts';

/** A value in etcd: the fields of the report, as the original stored them, and the counters beside them. */
const valueSchema = reportSchema.extend({
  report_count: z.int().nonnegative().default(0),
  error_count: z.int().nonnegative().default(0),
});

/** The value of an agent, JSON. */
export function agentValue({ report, reportCount, errorCount }: AgentState): string {
  return JSON.stringify({ ...report, report_count: reportCount, error_count: errorCount });
}

/** Undefined if the text is not the value of the agent of that pod. */
export function readAgentValue(pod: string, text: string): AgentState | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { success, data } = valueSchema.safeParse(json);
  if (!success || data.podname !== pod) return undefined;
  const { report_count: reportCount, error_count: errorCount, ...report } = data;
  return { report, reportCount, errorCount };
}

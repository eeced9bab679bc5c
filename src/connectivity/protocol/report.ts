import { reportSchema, type Report } from '../../api/agent/report.ts';
import { problemTexts } from '../../api/problems.ts';
import { readMeasurement, type Measurement } from './measurement.ts';

/** Limit of the body of a report, bytes. A node with 1,000 interfaces takes 50 kB. */
export const REPORT_LIMIT_BYTES = 64 * 1024;

/** The text of the original server for a body that is not JSON, with status 500. */
const NOT_JSON = 'Error while unmarshaling data. Details: ';

/** Why a report was not accepted, as the answer says it. */
export interface ReportProblem {
  readonly status: 400 | 500;
  readonly text: string;
}

/** A report, and the measurement that agents of this program send with it. */
export interface ReadReport {
  readonly report: Report;
  readonly measurement?: Measurement;
}

/**
 * Reads the body of a report:
 *
 * | body | result |
 * |---|---|
 * | no JSON object | 500 with the text of the original server |
 * | a field is missing or not allowed | 400 that names field, value and what is allowed |
 * | the same in `connectivity` | 400, too |
 * | `podname` is not the name in the URL | 400; the stores of the original disagreed on which of them counts |
 * | other fields, such as `zero_extender` | ignored |
 *
 * @param name the name in the URL
 */
export function readReport(name: string, body: string): ReadReport | { problem: ReportProblem } {
  const json = parseObject(body);
  if ('details' in json) return problem(500, `${NOT_JSON}${json.details}`);
  const parsed = reportSchema.safeParse(json.object);
  if (!parsed.success) {
    return problem(400, `invalid report: ${problemTexts(json.object, parsed.error.issues).join('; ')}`);
  }
  const { podname } = parsed.data;
  if (podname !== name) return problem(400, `invalid report: podname is ${podname}: must be ${name}, as in the URL`);
  return withMeasurement(parsed.data, json.object);
}

function withMeasurement(report: Report, body: object): ReadReport | { problem: ReportProblem } {
  const read = readMeasurement(body);
  if ('problems' in read) return problem(400, `invalid report: ${read.problems.join('; ')}`);
  return { report, ...read };
}

function parseObject(body: string): { object: object } | { details: string } {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { object: value };
    return { details: 'the report is not a JSON object' };
  } catch (error) {
    return { details: error instanceof Error ? error.message : String(error) };
  }
}

function problem(status: 400 | 500, text: string): { problem: ReportProblem } {
  return { problem: { status, text: `${text}\n` } };
}

/** A report as the original server returns it: its fields in their order, with null for what is missing. */
export function reportJson(report: Report): object {
  return {
    report_interval: report.report_interval,
    nodename: report.nodename,
    podname: report.podname,
    hostdate: report.hostdate ?? null,
    uptime: report.uptime ?? 0,
    last_updated: report.last_updated ?? null,
    nslookup: report.nslookup ?? null,
    network_probes: report.network_probes ?? null,
    ips: report.ips ?? null,
  };
}

/** The value of the label `agent` in metrics: node and network plane. The plane follows from the pod's name. */
export function agentLabel({ nodename, podname }: Pick<Report, 'nodename' | 'podname'>): string {
  return `${nodename}-${podname.includes('hostnet') ? 'host_network' : 'private_network'}`;
}

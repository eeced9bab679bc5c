/** The values of an agent's own metrics. */
export interface AgentFigures {
  /** CPU time since the start, user and system. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  /** Since the server last accepted a report; before the first one, since the start. */
  readonly reportAgeSeconds: number;
}

interface AgentMetric {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly of: (figures: AgentFigures) => number;
}

/**
 * The metrics of an agent, each one series. With the five that Prometheus adds to each target, an agent has eight, and the
 * two of a node sixteen. The series of a node are at most 40: see KEPT_CONNECTIVITY_SERIES in prometheusConfig.ts.
 *
 * Loss, latency, and reports that are missing are metrics of the server, which knows them while an agent is away.
 */
export const AGENT_METRICS: readonly AgentMetric[] = [
  {
    name: 'process_cpu_seconds_total',
    type: 'counter',
    help: 'CPU time of the agent.',
    of: ({ cpuSeconds }) => cpuSeconds,
  },
  {
    name: 'process_resident_memory_bytes',
    type: 'gauge',
    help: 'Resident memory of the agent.',
    of: ({ residentBytes }) => residentBytes,
  },
  {
    name: 'traffic_operator_connectivity_agent_report_age_seconds',
    type: 'gauge',
    help: 'Time since the server last accepted a report of the agent; before the first one, since its start.',
    of: ({ reportAgeSeconds }) => reportAgeSeconds,
  },
];

/** The figures in the text format of Prometheus. Without prom-client, which would cost an agent several MB. */
export function renderAgentMetrics(figures: AgentFigures): string {
  return AGENT_METRICS.map(
    ({ name, type, help, of }) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${of(figures)}\n`,
  ).join('');
}

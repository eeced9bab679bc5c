import { NONE_EXPECTED, PLAIN } from './appearance.ts';
import type { Row } from './dashboard.ts';
import { linesPanel, statPanel } from './panels.ts';

/** Only targets that are agents have the label `plane`; the name of their job differs between installations. */
const OF_AGENTS = '{plane!=""}';
const UP = `up${OF_AGENTS}`;
const CPU = `rate(process_cpu_seconds_total${OF_AGENTS}[$__rate_interval])`;
const MEMORY = `process_resident_memory_bytes${OF_AGENTS}`;
const AGE = `traffic_operator_connectivity_agent_report_age_seconds${OF_AGENTS}`;

/** Of the lines beside the numbers. */
const HEIGHT = 8;

/** The agent in the middle and the one with the most, on each network. */
function middleAndMost(vector: string): { expr: string; legend: string }[] {
  return [
    { expr: `max by (plane) (${vector})`, legend: '{{plane}}: highest' },
    { expr: `quantile by (plane) (0.5, ${vector})`, legend: '{{plane}}: median' },
  ];
}

/** The processes of the agents, as Prometheus scrapes them. */
export const PROCESSES: Row = {
  title: 'Agents, as Prometheus scrapes them',
  panels: [
    statPanel({
      title: 'Agents scraped',
      description: 'Agents that answer Prometheus, of both networks.',
      queries: [{ expr: `sum(${UP})` }],
      steps: PLAIN,
      height: HEIGHT,
    }),
    statPanel({
      title: 'Agents not scraped',
      description: 'Agents that do not answer Prometheus: it does not reach them, or they do not run.',
      queries: [{ expr: `sum(1 - ${UP})` }],
      steps: NONE_EXPECTED,
      height: HEIGHT,
    }),
    linesPanel({
      title: 'Age of the last report',
      description:
        'Time since the server last accepted a report of an agent, as the agent says. Above two intervals, its server does not answer or refuses it.',
      queries: middleAndMost(AGE),
      unit: 's',
      width: 16,
    }),
    linesPanel({
      title: 'CPU of an agent',
      description: 'Share of a core that an agent uses.',
      queries: middleAndMost(CPU),
      unit: 'percentunit',
    }),
    linesPanel({
      title: 'Memory of an agent',
      description: 'Resident memory of an agent. Its limit in the deployment is 128 MiB.',
      queries: middleAndMost(MEMORY),
      unit: 'bytes',
    }),
  ],
};

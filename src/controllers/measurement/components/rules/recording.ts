import { DEFAULT_EXCLUDED_DEVICES, VIRTUAL_DRIVERS, VLAN_NAME } from '../../../../usage/evaluate/devices.ts';
import type { MeasurementOptions } from '../../options.ts';
import { renderRules } from './rule.ts';
import type { RecordingRule } from './rule.ts';

/** How many scrapes a rate is taken over, as the operator does by default. */
const SCRAPES_PER_WINDOW = 4;
const EXPORTER = 'job="node-exporter"';
/** IFF_SLAVE, 0x800, in a language without bit operations. */
const SLAVES = `floor(node_network_flags{${EXPORTER}} / 2048) % 2 == 1`;

const RATIO = 'node:traffic_operator_bandwidth:ratio';
const FROM_OPERATOR = 'max by (node) (traffic_operator_node_bandwidth_ratio)';

/**
 * The recording rules: how full each node's links are. From the operator's own figure, where it is scraped: to work the
 * same out from the exporters' series takes seconds of each evaluation on 10,000 nodes, and a third of the memory.
 */
export function renderRecordingRules({
  prometheus,
  operatorMetrics,
}: Pick<MeasurementOptions, 'operatorMetrics'> & {
  prometheus: Pick<MeasurementOptions['prometheus'], 'scrapeIntervalSeconds'>;
}): string {
  const rules = operatorMetrics ? [OPERATORS] : exportersRules(SCRAPES_PER_WINDOW * prometheus.scrapeIntervalSeconds);
  return renderRules('How full the links of the nodes are, from 0 to 1.', [{ name: 'node-bandwidth', rules }]);
}

const OPERATORS: RecordingRule = {
  record: RATIO,
  why: 'What nodes are judged by, capacity annotations included.',
  expr: FROM_OPERATOR,
};

function exportersRules(windowSeconds: number): RecordingRule[] {
  return [
    {
      record: 'node_device:node_network_transmit_bytes:rate',
      why: 'Devices that count: not by a name of container networks, no slave of a bond, no virtual driver, nothing that\nlies on another device. The operator looks at these in the same order (docs/devices.md).',
      expr: transmitRate(windowSeconds),
    },
    {
      record: 'node_device:node_network_speed_bytes:known',
      why: 'A device that is down says -125000, some virtual ones 0.',
      expr: `node_network_speed_bytes{${EXPORTER}} > 0`,
    },
    {
      record: 'node:node_network_transmit:ratio',
      why: 'As the operator works it out, but for capacity annotations, own device patterns and a veth that is the only\nuplink: these take facts that are not in Prometheus.',
      expr: `sum by (node) (${RATE} and on (node, device) ${SPEED})
/
sum by (node) (${SPEED} and on (node, device) ${RATE})`,
    },
    {
      record: RATIO,
      why: "The operator's own figure comes first: it is what nodes are judged by, capacity annotations included. Where its\nmetrics are not scraped, the exporter's series still tell most of it.",
      expr: `${FROM_OPERATOR}
or
node:node_network_transmit:ratio`,
    },
  ];
}

const RATE = 'node_device:node_network_transmit_bytes:rate';
const SPEED = 'node_device:node_network_speed_bytes:known';

function transmitRate(windowSeconds: number): string {
  const names = quoted(`lo|${DEFAULT_EXCLUDED_DEVICES}|${VLAN_NAME}`);
  const drivers = quoted(`(?i:${VIRTUAL_DRIVERS.map((driver) => driver.replaceAll('.', '\\.')).join('|')}).*`);
  return `rate(node_network_transmit_bytes_total{${EXPORTER},device!~${names}}[${windowSeconds}s])
unless on (node, device)
  (${SLAVES})
unless on (node, device)
  node_ethtool_info{${EXPORTER},driver=~${drivers}}
unless on (node, device)
  (
      (node_network_iface_link{${EXPORTER}} != node_network_iface_id{${EXPORTER}})
    unless on (node, device)
      node_ethtool_info{${EXPORTER},driver!=""}
  )`;
}

function quoted(pattern: string): string {
  return JSON.stringify(pattern);
}

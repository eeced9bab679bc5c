/** The metrics with the facts of a device, everything but its rate, and the field of FactSamples that each fills. */
const FIELDS = {
  node_network_transmit_bytes_total: 'total',
  node_network_speed_bytes: 'speed',
  node_network_flags: 'flags',
  node_network_iface_id: 'ifaceId',
  node_network_iface_link: 'ifaceLink',
  node_ethtool_info: 'driver',
} as const;

export type FactMetric = keyof typeof FIELDS;
export type FactField = (typeof FIELDS)[FactMetric];

export const FACT_METRICS = Object.keys(FIELDS) as readonly FactMetric[];

export function fieldOf(metric: FactMetric): FactField {
  return FIELDS[metric];
}

/** The facts that an exporter reports about one network device. A field is absent if there is no such series. */
export interface DeviceFacts {
  /** node_network_transmit_bytes_total */
  total?: number | undefined;
  /** node_network_speed_bytes, bytes per second. NaN if the sample is not a number. */
  speed?: number | undefined;
  /** node_network_flags: IFF_* of netdevice(7). */
  flags?: number | undefined;
  /** node_network_iface_id: the device's own index. */
  ifaceId?: number | undefined;
  /** node_network_iface_link: index of the device below it, or its own index if there is none. */
  ifaceLink?: number | undefined;
  /** Label `driver` of node_ethtool_info. */
  driver?: string | undefined;
}

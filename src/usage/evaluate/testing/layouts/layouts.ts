import { CLOUD_LAYOUTS } from './clouds.ts';
import { FUNCTION_LAYOUTS } from './functions.ts';
import { HOST_LAYOUTS } from './hosts.ts';
import type { HostLayout } from './layout.ts';
import { PLUGIN_LAYOUTS } from './plugins.ts';

/** All layouts, in groups. docs/devices.md is generated from them. */
export const LAYOUT_GROUPS: ReadonlyMap<string, readonly HostLayout[]> = new Map([
  ['Network plug-ins', PLUGIN_LAYOUTS],
  ['Clouds and containers', CLOUD_LAYOUTS],
  ['Hardware, virtualization and networks over the NIC', [...HOST_LAYOUTS, ...FUNCTION_LAYOUTS]],
]);

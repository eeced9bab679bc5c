import { z } from 'zod';

/** The values about dashboards. Their defaults match Grafana's own chart. */
export const dashboards = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Create a ConfigMap for each dashboard.'),
    label: z.string().min(1).default('grafana_dashboard').describe('Label of the ConfigMaps that Grafana selects.'),
    labelValue: z.string().default('1').describe('Value of that label.'),
    annotations: z
      .record(z.string(), z.string())
      .default({})
      .describe('Annotations of the ConfigMaps, such as grafana_folder with the name of the folder.'),
    namespace: z
      .string()
      .default('')
      .describe("Namespace of the ConfigMaps, if Grafana reads only one; empty: the release's namespace."),
  })
  .prefault({})
  .describe('Dashboards for Grafana.');

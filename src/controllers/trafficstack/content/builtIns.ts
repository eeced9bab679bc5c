import type { BuiltIn } from '../../contract/builtIn.ts';
import { dashboardsOf } from './dashboards.ts';

/** What stacks have of this project itself. No controller applies it without one. @param namespace that of the operator */
export function builtInsOf(namespace: string): BuiltIn[] {
  return [{ type: 'Dashboards', isDeployed: false, render: ({ dashboards }) => dashboardsOf(dashboards, namespace) }];
}

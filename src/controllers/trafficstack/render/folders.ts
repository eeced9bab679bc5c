import { createHash } from 'node:crypto';
import type { WorkloadComponent } from '../../../api/trafficstack/trafficStack.ts';
import type { SharedBudget } from '../expression/budget.ts';
import type { Variables } from '../expression/expression.ts';
import { renderText } from '../expression/template.ts';

/** A folder of rendered files: a ConfigMap and its mount. */
export interface Folder {
  /** Name of the volume. */
  readonly volume: string;
  readonly mountPath: string;
  /** Name of the ConfigMap. It ends with a hash of the files: a new content replaces the pods, and old pods keep the old ConfigMap. */
  readonly object: string;
  readonly files: Readonly<Record<string, string>>;
}

/** Hexadecimal digits of the hash. */
const DIGITS = 10;

/**
 * Renders the folders of a component, or returns the problems of its files, one sentence each.
 *
 * @param budget the steps that the files of all components of the stack have left
 */
export function foldersOf(
  component: WorkloadComponent,
  variables: Variables,
  budget?: SharedBudget,
): Folder[] | { readonly problems: string[] } {
  const problems = clashesIn(component);
  const folders = (component.workload.config ?? []).map(({ name, mountPath, files }) => {
    const rendered = Object.entries(files).map(([file, template]) => {
      const result = renderText(template, variables, budget);
      if ('text' in result) return [file, result.text] as const;
      problems.push(
        `component ${component.name}, config ${name}, file ${file}, ${result.problem}${hintFor(result.problem)}`,
      );
      return [file, ''] as const;
    });
    return folderOf(component, { name, mountPath }, Object.fromEntries(rendered));
  });
  return problems.length > 0 ? { problems } : folders;
}

/** Adds a hint about a component that is missing in `dependsOn`. */
function hintFor(problem: string): string {
  const [, key = ''] = /No such key: (\S+)$/.exec(problem) ?? [];
  return key !== '' && problem.includes(`components.${key}`) ? ', which dependsOn does not name' : '';
}

/** Returns folders with the mount path or the name of another volume, which the API server would refuse. */
function clashesIn({ name: component, workload }: WorkloadComponent): string[] {
  const { containers = [], initContainers = [], volumes = [] } = workload.podTemplate?.spec ?? {};
  const mounts = [...containers, ...initContainers].flatMap(({ volumeMounts = [] }) => volumeMounts);
  const paths = new Set(mounts.map(({ mountPath }) => mountPath));
  const names = new Set(volumes.map(({ name }) => name));
  return (workload.config ?? []).flatMap(({ name, mountPath }) => {
    const where = `component ${component}, config ${name}`;
    const clashes = [
      ...(paths.has(mountPath) ? [`${where}: something else is mounted at ${mountPath}`] : []),
      ...(names.has(volumeOf(name)) ? [`${where}: the pods have a volume ${volumeOf(name)} of their own`] : []),
    ];
    paths.add(mountPath);
    return clashes;
  });
}

function volumeOf(name: string): string {
  return `config-${name}`;
}

function folderOf(
  { name: component, workload }: WorkloadComponent,
  { name, mountPath }: { readonly name: string; readonly mountPath: string },
  files: Record<string, string>,
): Folder {
  const content = JSON.stringify(Object.entries(files).toSorted());
  const hash = createHash('sha256').update(content).digest('hex').slice(0, DIGITS);
  return { volume: volumeOf(name), mountPath, object: `${workload.name ?? component}-${name}-${hash}`, files };
}

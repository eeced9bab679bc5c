import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** How many production files src has, how long and how deep they are. */
export interface Sizes {
  /** Production files under src: neither tests nor what only tests import. */
  readonly files: number;
  /** Their lines, blank lines and comments included. */
  readonly lines: number;
  /** Levels of folders under src of the deepest file. */
  readonly depth: number;
}

/** How the files of src depend on one another. */
export interface Imports {
  /** Imports within one wing that run back up, each as `from -> to`. */
  readonly upward: readonly string[];
  /** The files that are part of a circle of imports. */
  readonly circles: readonly string[];
}

/** An import of one production file by another. Paths are relative to the root of the project. */
export interface Import {
  readonly from: string;
  readonly to: string;
}

/** The stages of a wing in the order of the data: each may import what stands before it. */
const STAGES = ['observe', 'decide', 'act'];
const NOT_PRODUCTION = /\.test\.ts$|\/(testing|testdata)\//;

/** Counts the production files of a project. */
export function sizesOf(root: string): Sizes {
  const sources = globSync('src/**/*.ts', { cwd: root }).filter((source) => !NOT_PRODUCTION.test(source));
  return {
    files: sources.length,
    lines: sources.reduce((sum, source) => sum + lineCount(readFileSync(join(root, source), 'utf8')), 0),
    depth: Math.max(...sources.map(depthOf)),
  };
}

/** Reads the imports of a project, of types as well. It takes about 10 s of CPU. */
export async function importsOf(root: string): Promise<Imports> {
  const exclude = { path: `${NOT_PRODUCTION.source}|^node_modules/` };
  const { output } = await cruise(['src'], { baseDir: root, tsPreCompilationDeps: true, exclude });
  const { modules } = output as ICruiseResult;
  const imports = modules.flatMap(({ source, dependencies }) =>
    dependencies.map(({ resolved }) => ({ from: source, to: resolved })),
  );
  const circles = modules.flatMap(({ dependencies }) => dependencies.flatMap(({ cycle }) => cycle ?? []));
  return { upward: upwardImports(imports), circles: [...new Set(circles.map(({ name }) => name))].sort() };
}

/** Imports of a later stage of the same wing: observe must import neither decide nor act, and decide must not import act. */
export function upwardImports(imports: readonly Import[]): string[] {
  const isUpward = ({ from, to }: Import): boolean => {
    const here = stageOf(from);
    const there = stageOf(to);
    return here !== undefined && there !== undefined && here.wing === there.wing && here.stage < there.stage;
  };
  return imports.filter(isUpward).map(({ from, to }) => `${from} -> ${to}`);
}

/** The number of folders between src and a file. */
export function depthOf(source: string): number {
  return dirname(source).split('/').length - 1;
}

function stageOf(source: string): { readonly wing: string; readonly stage: number } | undefined {
  const folders = dirname(source).split('/');
  const index = folders.findIndex((folder) => STAGES.includes(folder));
  return index < 0 ? undefined : { wing: folders.slice(0, index).join('/'), stage: STAGES.indexOf(folders[index]!) };
}

function lineCount(text: string): number {
  return text.split('\n').length - 1;
}

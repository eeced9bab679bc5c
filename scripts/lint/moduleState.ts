/**
 * A rule of oxlint: what decides depends on what is passed in, and is the same for each TrafficWatch, each test and each process. Therefore a
 * module has no variables, and no collection that can change. .oxlintrc.json says for which folders.
 */

/** The parts of ESTree that the rule reads: https://typescript-eslint.io/packages/typescript-estree/ast-spec */
interface Name {
  readonly type: string;
  readonly name?: string;
}

interface Declarator {
  readonly id: { readonly typeAnnotation?: { readonly typeAnnotation: { readonly typeName?: Name } } | null };
  readonly init: { readonly type: string; readonly callee?: Name } | null;
}

interface Declaration {
  readonly kind: string;
  readonly parent: Name;
  readonly declarations: readonly Declarator[];
}

interface Context {
  report(problem: { node: Declaration; message: string }): void;
}

const VARIABLE = 'A variable of a module is state that all callers share: pass a value in, or give it an owner.';
const COLLECTION = 'A collection of a module is a constant, ReadonlyMap or ReadonlySet; a cache needs an owner.';

/** Whether the collection may change: its type is not a readonly one. */
function isMutableCollection({ id, init }: Declarator): boolean {
  const isCollection = init?.type === 'NewExpression' && /^(Weak)?(Map|Set)$/.test(init.callee?.name ?? '');
  const declared = id.typeAnnotation?.typeAnnotation.typeName?.name ?? '';
  return isCollection && !/^Readonly(Map|Set)$/.test(declared);
}

const none = {
  create: (context: Context) => ({
    VariableDeclaration(node: Declaration): void {
      if (!['Program', 'ExportNamedDeclaration'].includes(node.parent.type)) return;
      if (node.kind !== 'const') context.report({ node, message: VARIABLE });
      else if (node.declarations.some(isMutableCollection)) context.report({ node, message: COLLECTION });
    },
  }),
};

export default { meta: { name: 'module-state' }, rules: { none } };

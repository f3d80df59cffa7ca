/** What a PromQL query reads: whether its metrics and labels exist, and which labels its result has. */
import { parser } from '@prometheus-io/lezer-promql';

type SyntaxNode = ReturnType<typeof parser.parse>['topNode'];

/** The labels of each metric, by its whole name. */
export type MetricLabels = ReadonlyMap<string, ReadonlySet<string>>;

/** Labels that Prometheus adds to every sample: the process, and the service that it is of. */
const SCRAPE_LABELS = ['instance', 'job'];
const NO_LABELS: ReadonlySet<string> = new Set();

/**
 * The labels of the samples that a query gives. `report` is called with each mistake: a query that cannot be parsed, an
 * unknown metric, a label that its metric does not have, and an operator whose sides can never match.
 */
export function labelsOf(
  query: string,
  metrics: MetricLabels,
  report: (problem: string) => void,
): ReadonlySet<string> {
  const tree = parser.parse(query);
  const textOf = ({ from, to }: { from: number; to: number }) => query.slice(from, to);
  if (contains(tree.topNode, ({ type }) => type.isError)) report(`${query} cannot be parsed`);

  const textsIn = (node: SyntaxNode, names: string): string[] =>
    node.getChildren(names).map(textOf);
  const require = (wanted: string[], among: ReadonlySet<string>, of: string) => {
    for (const label of wanted) if (!among.has(label)) report(`${of} has no label ${label}`);
  };

  function labelsOfSelector(node: SyntaxNode): ReadonlySet<string> {
    const [name = ''] = textsIn(node, 'Identifier');
    const known = metrics.get(name);
    if (known === undefined) report(`${name} is not exported`);
    const labels = new Set([...(known ?? []), ...SCRAPE_LABELS]);
    if (known !== undefined) require(matchersIn(node), labels, name);
    return labels;
  }

  /** The labels that a selector, or the one in a call, names by a matcher: those of the sample that `absent` gives. */
  function matchersIn(node: SyntaxNode): string[] {
    const names: string[] = [];
    node.cursor().iterate(({ node: each }) => {
      if (each.name === 'UnquotedLabelMatcher') names.push(...textsIn(each, 'LabelName'));
    });
    return names;
  }

  function labelsOfAggregate(node: SyntaxNode): ReadonlySet<string> {
    const body = node.getChild('FunctionCallBody');
    const inner = body === null ? NO_LABELS : labelsOfNode(body);
    const modifier = node.getChild('AggregateModifier');
    const grouping = modifier?.getChild('GroupingLabels');
    const labels = grouping ? textsIn(grouping, 'LabelName') : [];
    require(labels, inner, textOf(node));
    if (modifier?.getChild('Without')) return inner.difference(new Set(labels));
    return new Set(labels);
  }

  function labelsOfBinary(node: SyntaxNode): ReadonlySet<string> {
    const [left, right] = [node.firstChild, node.lastChild];
    if (left === null || right === null) return NO_LABELS;
    const sides = [labelsOfNode(left), labelsOfNode(right)] as const;
    if (node.getChild('Or')) return sides[0].union(sides[1]);
    if (isScalar(left)) return sides[1];
    if (isScalar(right)) return sides[0];
    const matching = node.getChild('MatchingModifierClause');
    if (matching === null && sides[0].symmetricDifference(sides[1]).size > 0) {
      report(`${textOf(node)}: the sides have different labels, and never match`);
    }
    return matching?.getChild('GroupRight') ? sides[1] : sides[0];
  }

  function labelsOfFunction(node: SyntaxNode): ReadonlySet<string> {
    const body = node.getChild('FunctionCallBody');
    const inner = body === null ? NO_LABELS : labelsOfNode(body);
    const [name = ''] = textsIn(node, 'FunctionIdentifier');
    if (name === 'vector') return NO_LABELS;
    if (name === 'absent') return new Set(matchersIn(node));
    if (name === 'label_replace') {
      const [added = ''] = body === null ? [] : textsIn(body, 'StringLiteral');
      return inner.union(new Set([added.slice(1, -1)]));
    }
    if (name !== 'histogram_quantile') return inner;
    require(['le'], inner, textOf(node));
    return inner.difference(new Set(['le']));
  }

  function labelsOfNode(node: SyntaxNode): ReadonlySet<string> {
    if (node.name === 'VectorSelector') return labelsOfSelector(node);
    if (node.name === 'AggregateExpr') return labelsOfAggregate(node);
    if (node.name === 'BinaryExpr') return labelsOfBinary(node);
    if (node.name === 'FunctionCall') return labelsOfFunction(node);
    let labels: ReadonlySet<string> = NO_LABELS;
    for (let child = node.firstChild; child !== null; child = child.nextSibling) {
      labels = labels.union(labelsOfNode(child));
    }
    return labels;
  }

  return labelsOfNode(tree.topNode);
}

/** Whether an expression has one value instead of samples, as a number and time() have. */
function isScalar(node: SyntaxNode): boolean {
  return !contains(node, ({ name }) => name === 'VectorSelector' || name === 'Vector');
}

function contains(
  node: SyntaxNode,
  isWanted: (node: Pick<SyntaxNode, 'name' | 'type'>) => boolean,
) {
  let isFound = false;
  node.cursor().iterate((each) => {
    if (isWanted(each)) isFound = true;
  });
  return isFound;
}

/** The parts of htm and Preact that the pages use. The types of the package need Preact beside it. */
export function html(strings: TemplateStringsArray, ...values: unknown[]): object
export function render(tree: unknown, parent: Element): void
export function useState<T>(initial: T | (() => T)): [T, (value: T | ((current: T) => T)) => void]
export function useEffect(effect: () => undefined | (() => void), inputs: unknown[]): void
export function useRef<T>(initial: T): { current: T }

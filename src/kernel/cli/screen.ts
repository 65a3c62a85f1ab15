// A whole screen of text with keys instead of lines: what views that fill the terminal need.

export interface ScreenEvents {
  /** Text as it is typed, neither echoed nor gathered to lines. */
  keys(text: string): void;
  resized(): void;
  /** The terminal is gone, or somebody ends this process: the view is over. */
  ended(): void;
}

export interface OpenScreen {
  /** Shows these lines from the first row on; those that are there already are not sent again. */
  show(lines: readonly string[]): void;
  /** Nothing is taken to be on the screen any more. */
  forget(): void;
  /** Gives the terminal back as it was; may be called again. */
  close(): void;
}

export interface Screen {
  size(): { readonly columns: number; readonly rows: number };
  open(events: ScreenEvents): OpenScreen;
  /** Stops this process until its shell lets it go on; not while the screen is open. */
  sleep(): void;
}

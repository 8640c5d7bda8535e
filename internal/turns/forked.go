package turns

// What stands in the place of a result that a fork cut off, and the answer that
// is added before the next prompt, as in the reference.
const (
	ForkedResult = `{"error": "Tool execution interrupted by session fork", "forked": true, ` +
		`"message": "This tool call was in progress when the session was forked. The result is not available in this forked session."}`
	ForkedAnswer = "The previous tool calls were interrupted by a session fork. Results are not available in this forked session."
)

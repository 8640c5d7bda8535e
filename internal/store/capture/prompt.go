package capture

import "slices"

// Prompt is the text of a prompt, in a list of events or of messages.
type Prompt struct {
	At   int      // its index
	Sum  [32]byte // SHA-256 of the text, if Text
	Text bool     // it has a text
}

// MatchPrompts returns the index in asked of each submitted prompt, by the index in submits.
// If inOrder, and the submitted texts equal those asked, the order decides. Otherwise a text
// matches that occurs once on either side.
func MatchPrompts(submits, asked []Prompt, inOrder bool) map[int]int {
	found := make(map[int]int, len(submits))
	sameText := func(s, a Prompt) bool { return s.Text && a.Text && s.Sum == a.Sum }
	if inOrder && slices.EqualFunc(submits, asked, sameText) {
		for k, s := range submits {
			found[s.At] = asked[k].At
		}
		return found
	}
	sent := onlyOnes(submits)
	for sum, at := range onlyOnes(asked) {
		if submit, ok := sent[sum]; ok && at >= 0 && submit >= 0 {
			found[submit] = at
		}
	}
	return found
}

// onlyOnes returns the index of each text, or -1 for a text that occurs more than once.
func onlyOnes(prompts []Prompt) map[[32]byte]int {
	at := map[[32]byte]int{}
	for _, p := range prompts {
		if !p.Text {
			continue
		}
		i := p.At
		if _, ok := at[p.Sum]; ok {
			i = -1
		}
		at[p.Sum] = i
	}
	return at
}

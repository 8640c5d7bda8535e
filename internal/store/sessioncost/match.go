package sessioncost

import (
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/store/capture"
)

// matchPrompts returns the turn that each submitted prompt opens, by the index of the
// step. If inOrder, and the submitted prompts equal the prompts of the anchors, the order
// decides. Otherwise a prompt opens a turn whose text occurs once among the turns and
// once in the log.
func matchPrompts(turns []Turn, steps []step, inOrder bool) map[int]int {
	submits, anchors := submitsIn(steps), anchorsIn(turns)
	opens := make(map[int]int, len(submits))
	sameText := func(s, a prompt) bool { return a.text && s.sum == a.sum }
	if inOrder && slices.EqualFunc(submits, anchors, sameText) {
		for k, s := range submits {
			opens[s.at] = anchors[k].at
		}
		return opens
	}
	sent := onlyOnes(submits)
	for sum, turn := range onlyOnes(anchors) {
		if step, ok := sent[sum]; ok && turn >= 0 && step >= 0 {
			opens[step] = turn
		}
	}
	return opens
}

// prompt is the text of a prompt, as its SHA-256.
type prompt struct {
	at   int // index of the step or of the turn
	text bool
	sum  [32]byte
}

func submitsIn(steps []step) (prompts []prompt) {
	for i, s := range steps {
		if s.scoped && s.submit && s.text {
			prompts = append(prompts, prompt{i, true, s.sum})
		}
	}
	return prompts
}

func anchorsIn(turns []Turn) (prompts []prompt) {
	for i, t := range turns {
		if !t.Anchor {
			continue
		}
		sum, ok := capture.Sum(t.Prompt)
		prompts = append(prompts, prompt{i, ok, sum})
	}
	return prompts
}

// onlyOnes returns the index of each text, or -1 for a text that occurs more than once.
func onlyOnes(prompts []prompt) map[[32]byte]int {
	at := map[[32]byte]int{}
	for _, p := range prompts {
		if !p.text {
			continue
		}
		i := p.at
		if _, ok := at[p.sum]; ok {
			i = -1
		}
		at[p.sum] = i
	}
	return at
}

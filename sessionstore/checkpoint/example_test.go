package checkpoint_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/amplifier-go/sessionstorage/sessionstore/checkpoint"
)

func Example() {
	output, err := os.MkdirTemp("", "analysis")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(output)
	ctx := context.Background()
	s, err := checkpoint.New(nil).Create(ctx, output, checkpoint.Setup{Chapters: 4})
	if err != nil {
		log.Fatal(err)
	}
	if err := s.Checkpoint(ctx, 1, map[string]any{"research_structure": "research-structure.md"}); err != nil {
		log.Fatal(err)
	}
	missing, err := s.Resume(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range missing {
		fmt.Println("missing:", m.Phase, m.Path)
	}
	fmt.Println("phase", s.State().CurrentPhase(), s.State().Status())
	// Output:
	// missing: 1 research-structure.md
	// phase 1 in_progress
}

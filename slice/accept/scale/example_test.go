package scale_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"log"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
	"github.com/amplifier-go/sessionstorage/slice/accept/scale"
)

// Before a conversation is sent, a screenshot that is too wide for the provider is made
// smaller.
func Example() {
	var screenshot bytes.Buffer
	if err := png.Encode(&screenshot, image.NewGray(image.Rect(0, 0, 9000, 30))); err != nil {
		log.Fatal(err)
	}
	prompt, err := sessionstore.NewMessage(map[string]any{"role": "user", "content": []any{map[string]any{
		"type":   "image",
		"source": map[string]any{"type": "base64", "media_type": "image/png", "data": base64.StdEncoding.EncodeToString(screenshot.Bytes())},
	}}})
	if err != nil {
		log.Fatal(err)
	}
	target := accept.Target{Provider: accept.Anthropic, Scale: scale.Picture}
	ready, err := target.Fix([]sessionstore.Message{prompt})
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range ready.Amendments {
		fmt.Println(a.Kind, a.Reasons)
	}
	fmt.Println(len(target.Check(ready.Messages)), "refusals are left")
	// Output:
	// replaced [wide_image]
	// 0 refusals are left
}

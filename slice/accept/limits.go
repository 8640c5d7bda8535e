package accept

import "math"

// Limit is the most of something that a provider takes.
type Limit struct {
	Certain  int // with more a request is refused, all sources say; 0: not judged
	Disputed int // with more it is refused, some sources say; 0: none does
}

// judge reports whether n is too much, and whether that is disputed.
func (l Limit) judge(n int) (over, disputed bool) {
	if l.Certain > 0 && n > l.Certain {
		return true, false
	}
	over = l.Disputed > 0 && n > l.Disputed
	return over, over
}

// Pictures are a provider's rules for pictures, and for the size of what is sent with them.
// What is zero is not judged.
type Pictures struct {
	Types         []string // media types that it takes; nil: neither types nor damage is judged
	DisputedTypes []string // media types that some sources say it takes
	TypeMatches   bool     // the declared media type has to be that of the bytes
	TypeListed    bool     // the declared media type has to be one of these
	StillOnly     bool     // it takes no GIF that moves
	InResults     bool     // it takes pictures in results of calls

	Side      Limit // width and height, in pixels
	Many      int   // with more pictures and documents than that, ManySide holds instead of Side
	ManySide  Limit
	Number    Limit // pictures and documents in a request; where Documents is false, pictures alone
	Documents bool
	Bytes     Limit // of one picture, as base64
	Request   Limit // bytes of the whole request
	Window    Limit // bytes of all text, of which a model of the window takes no more
}

const mb = 1 << 20

// PicturesOf returns the rules of a provider on a host. window is the number of tokens that
// the model takes, 0 if that is not known. The author of a program may change them, and give
// them to a [Target]. Their sources, with the date on which they were read:
//
//   - Anthropic: platform.claude.com, "Vision" (July 2026): jpeg, png, gif and webp, whose
//     media type is declared rightly; 8,000 pixels a side, 2,000 with more than 20 pictures
//     and documents; 600 of them, 100 where the window has 200,000 tokens; 10 MB each as
//     base64, 5 MB on Bedrock and Google Cloud. "API overview" (July 2026): 32 MB a request;
//     in November 2026 it says 20 MB on Bedrock and 30 MB on Google Cloud, which is disputed.
//     Reports of 2025 (anthropics/claude-code#13480) tell of 5 MB on its own API, too, which
//     is disputed, as is the number where the window is not known. The assistant has no pictures
//     (SEMOSS/Semoss#2323, April 2026).
//   - OpenAI: platform.openai.com, "Images and vision" (July 2026): png, jpeg, webp, and gif
//     that does not move; 1,500 pictures, 512 MB a request. The declared type is that
//     of some picture (openai/codex#32287, July 2026). Its specification of the Responses
//     API (openai/openai-openapi): 20,971,520 characters a URL.
//   - Gemini: ai.google.dev, "Image understanding" (July 2026): png, jpeg, webp, heic, heif;
//     3,600 files. gif is not documented, so it is disputed. Another declared type is refused
//     (google-gemini/gemini-cli#3054). Of a request with data in it the page said 20 MB in July
//     2026 and says 100 MB since: what is between is disputed. Vertex AI (cloud.google.com, "Image
//     understanding", July 2026): 3,000 pictures, 7 MB each; a newer page says 256 MB, so that
//     what is between is disputed.
//
// What none of them says is not judged.
func PicturesOf(p Provider, host Host, window int) Pictures {
	rules := Pictures{}
	webTypes := []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
	switch p {
	case Anthropic:
		rules = Pictures{
			Types: webTypes, TypeMatches: true, InResults: true, Documents: true,
			Side: Limit{Certain: 8000}, Many: 20, ManySide: Limit{Certain: 2000},
			Number: Limit{Certain: 600}, Bytes: Limit{10 * mb, 5 * mb}, Request: Limit{Certain: 32 * mb},
		}
		switch {
		case window > 200_000:
		case window > 0:
			rules.Number = Limit{Certain: 100}
		default:
			rules.Number.Disputed = 100
		}
		if host != OwnAPI {
			rules.Bytes, rules.Request.Disputed = Limit{Certain: 5 * mb}, map[Host]int{Bedrock: 20 * mb, GoogleCloud: 30 * mb}[host]
		}
	case OpenAIChat:
		rules = Pictures{Types: webTypes, StillOnly: true, Number: Limit{Certain: 1500}, Request: Limit{Certain: 512 * mb}}
	case OpenAIResponses:
		rules = Pictures{Types: webTypes, StillOnly: true, InResults: true, Number: Limit{Certain: 1500}, Bytes: Limit{Certain: 20*mb - len("data:image/jpeg;base64,")}, Request: Limit{Certain: 512 * mb}}
	case Gemini:
		rules = Pictures{
			Types: []string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}, DisputedTypes: []string{"image/gif"}, TypeListed: true,
			Number: Limit{Certain: 3600}, Documents: true, Request: Limit{100 * mb, 20 * mb},
		}
		if host == GoogleCloud {
			rules.Number, rules.Documents, rules.Bytes, rules.Request = Limit{Certain: 3000}, false, Limit{256 * mb, 7 * mb}, Limit{}
		}
	}
	rules.Window.Disputed = min(window, math.MaxInt32/bytesOfToken) * bytesOfToken
	return rules
}

// bytesOfToken is how many bytes of text make a token at most, by and large. A conversation
// that is longer by that is likely to be refused; what is shorter may be, too.
const bytesOfToken = 6

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Splits the text of a template into tokens.  The lexer also removes white space at trim marks, as in {{- and -}}.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pintle::gotemplate {

enum class TokenType : std::uint8_t {
  kError,  // The text of the token is the message of the error.
  kBool,
  kCharacter,  // A printable ASCII character that has no type of its own, such as a comma.
  kCharacterConstant,
  kComplex,
  kAssign,   // =
  kDeclare,  // :=
  kEnd,
  kField,
  kIdentifier,
  kLeftDelimiter,
  kLeftParenthesis,
  kNumber,
  kPipe,
  kRawString,
  kRightDelimiter,
  kRightParenthesis,
  kSpace,
  kString,
  kText,
  kVariable,
  // The keywords come last, because FormattedToken() formats all types from here on as keywords.  The dot is among
  // them, because Go's error messages treat it as a keyword.
  kBlockKeyword,
  kBreakKeyword,
  kContinueKeyword,
  kDot,
  kDefineKeyword,
  kElseKeyword,
  kEndKeyword,
  kIfKeyword,
  kNilKeyword,
  kRangeKeyword,
  kTemplateKeyword,
  kWithKeyword
};

struct Token {
  TokenType type = TokenType::kEnd;
  std::size_t position = 0;
  std::string_view text;  // Part of the template, or a message that is valid while the Lexer exists.
  std::size_t line = 1;   // The line on which the token begins.
};

// Formats a token for errors.
std::string FormattedToken(const Token& token);

class Lexer {
 public:
  // The words break and continue are keywords only if there is no function of the same name.
  struct Keywords {
    bool has_break = true;
    bool has_continue = true;
  };

  // `input` is the text of a template; it must outlive the lexer and the tokens.
  Lexer(std::string_view input, Keywords keywords) : input_(input), keywords_(keywords) {}

  // Returns the next token.  After kEnd and kError, returns the same token again.
  Token Next();

 private:
  enum class State : std::uint8_t { kText, kLeftDelimiter, kInside, kRightDelimiter, kEnded };

  bool IsAtEnd() const { return position_ >= input_.size(); }
  std::string_view Rest() const { return input_.substr(position_); }
  char32_t Peek() const;
  char32_t Take();
  // Consumes the next character if it is one of these characters, and returns whether it was.
  bool Accept(std::string_view characters);
  // Consumes all of these characters that come next.
  void AcceptRun(std::string_view characters);
  bool IsAtTerminator() const;
  bool IsAtRightDelimiter() const;
  bool HasRightTrimMark() const;

  // Emit() makes a token of the text between start_ and position_.  Ignore() drops this text and adds its lines to
  // line_.  Take() counts lines as well.  So line_ must be set back before Ignore() drops text that Take() consumed;
  // otherwise the lines of that text would be counted twice.
  Token Emit(TokenType type);
  Token Fail(std::string error);
  void Ignore();
  void SkipSpace();

  // Each Lex function consumes text, and stores the token that it finds in token_.  Functions that return a bool
  // return false if they have found no token, for example because the text was a comment.
  bool LexText();
  bool LexLeftDelimiter();
  bool LexComment();
  bool LexRightDelimiter();
  bool LexInside();
  Token LexSymbol(char32_t rune);
  bool LexSpace();
  Token LexIdentifier();
  Token LexFieldOrVariable(TokenType type);
  Token LexQuoted(char quote, TokenType type, const char* error);
  Token LexRawString();
  Token LexNumber();
  // Consumes a real or an imaginary number.  If a letter, a digit or an underscore follows, consumes this character for
  // the error, and returns false.
  bool ScanNumber();

  std::string_view input_;
  Keywords keywords_;
  State state_ = State::kText;
  std::size_t position_ = 0;
  std::size_t start_ = 0;       // The position at which the token begins.
  std::size_t line_ = 1;        // The line of position_.
  std::size_t start_line_ = 1;  // The line of start_.
  std::size_t open_parentheses_ = 0;
  Token token_;
  std::string error_;  // The text of the token kError.
};

}  // namespace pintle::gotemplate

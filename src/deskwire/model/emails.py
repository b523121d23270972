"""What counts as an e-mail address, decided by its form alone."""

from email_validator import SPECIAL_USE_DOMAIN_NAMES, EmailNotValidError, validate_email

# Whether a domain is one of the internet's is no matter of form: a test desk or an intranet has its own.
SPECIAL_USE_DOMAIN_NAMES.clear()


def parse_email(text: str) -> str:
    """The address as typed, without the blanks around it; ValueError says what is wrong with a text."""
    address = text.strip()
    try:
        # `strict` bounds the part before the @ at 64 characters.
        validate_email(address, strict=True, check_deliverability=False)
    except EmailNotValidError as problem:
        raise ValueError(f"must be an e-mail address such as ann@example.com: {problem}") from problem
    return address

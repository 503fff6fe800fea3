//! Who a peer is.

view! {
    /// The name and version of a program, and how to show it.
    Implementation {
        /// The program's name.
        name: String,
        /// The program's version.
        version: String,
        ;
        /// A name for people.
        title: String,
        /// What it does.
        description: String,
        /// Pictures.
        icons: Vec<Icon>,
        /// Where to read more.
        website_url: String,
    }
}

view! {
    /// A picture of a thing.
    Icon {
        /// An `https:` or `data:` address.
        src: String,
        ;
        /// The media type.
        mime_type: String,
        /// Sizes such as `48x48`, or `any`.
        sizes: Vec<String>,
        /// `light` or `dark`.
        theme: String,
    }
}
